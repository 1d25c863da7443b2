# Stages: build makes the tool; test runs all tests with `docker run`; run, the last and default one, has only the tool.
#
#   docker build -t netlayer .                        docker run --rm netlayer fetch https://example.org/
#   docker build -t netlayer-test --target test .     docker run --rm netlayer-test
#
# To use another libcurl, set another SWIFT_IMAGE and a RUNTIME_IMAGE of the same distribution.
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS base
WORKDIR /src
COPY scripts/lib.sh scripts/setup scripts/
RUN scripts/setup && rm -rf /var/lib/apt/lists/*
# Dependencies change less often than the sources, so this layer stays in the cache.
COPY Package.swift ./
COPY Tools/netlayer/Package.swift Tools/netlayer/
RUN swift package --package-path Tools/netlayer resolve

FROM base AS build
COPY Sources Sources
COPY Tests Tests
COPY Tools Tools
RUN swift build -c release --static-swift-stdlib --package-path Tools/netlayer --product netlayer \
    && cp Tools/netlayer/.build/release/netlayer /netlayer \
    && strip /netlayer

FROM base AS test
COPY scripts/setup-tests scripts/
COPY scripts/peers scripts/peers
RUN scripts/setup-tests && rm -rf /var/lib/apt/lists/*
COPY . .
RUN swift build --build-tests && swift build --package-path Tools/netlayer --build-tests
CMD ["scripts/test"]

FROM ${RUNTIME_IMAGE} AS run
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl4 ca-certificates publicsuffix \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --shell /usr/sbin/nologin netlayer
COPY --from=build /netlayer /usr/local/bin/netlayer
USER netlayer
ENTRYPOINT ["netlayer"]
CMD ["--help"]
