import Foundation

/// Certificates and keys for tests that need no server: P-256, signed by themselves.
enum PEMFixture {
    /// Valid from 2026 to 2125, whose year needs a GeneralizedTime.
    static let one = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARmgAwIBAgIUXh16KHRo3FbwT5eok1VLIbFq4OEwCgYIKoZIzj0EAwIw
        DjEMMAoGA1UEAwwDb25lMCAXDTI2MTEyODE5MjgyN1oYDzIxMjUwNjIyMTkyODI3
        WjAOMQwwCgYDVQQDDANvbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATibmNC
        t520ZzXYUEQe5XiqUA08bH5FuHT/4fJUQSmfcCxzE5BKdMyKnoaZmxh9QetPQLlW
        OBt3gkst2fKupcZSo1MwUTAdBgNVHQ4EFgQUPMI6CAEUQu384gB31QC4UqDI6Www
        HwYDVR0jBBgwFoAUPMI6CAEUQu384gB31QC4UqDI6WwwDwYDVR0TAQH/BAUwAwEB
        /zAKBggqhkjOPQQDAgNJADBGAiEAx2wCI+Dzh0HHZ/V+m0DIHak+Yk0GU54qKNnP
        HtOsgH4CIQDst/4qfEs8gU2ofF864uuVNAFqNR59M1JsEGjtnFXU5A==
        -----END CERTIFICATE-----

        """
    static let oneKey = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIFJ1SwtmQM/poyluPWXXSAR7qdBM818AINKMefaRVy1XoAoGCCqGSM49
        AwEHoUQDQgAE4m5jQredtGc12FBEHuV4qlANPGx+Rbh0/+HyVEEpn3AscxOQSnTM
        ip6GmZsYfUHrT0C5Vjgbd4JLLdnyrqXGUg==
        -----END EC PRIVATE KEY-----

        """
    /// The same key with the password 'secret'.
    static let oneLockedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhrAx2i1S0T4wICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEELYiAZHvAWDnJSlaN4EDYJMEgZDu
        RMmccXtM5ElP30OIf/lFQFNJobze4qnKUX82FVhuPhgbMFwkbWtZ5KKQ4C25XQ/4
        h+T4wPT9UGBftGvkzGN2VOhRlRS4bH8kVpgi0SITA4XufM5idYvy9taAxMQGNOzH
        FpCg3M1kRjOhFfWsSMn58NW5a/YytHW4BQH+vs4/kzbcf2o/MPj8k4+sHZD2uGU=
        -----END ENCRYPTED PRIVATE KEY-----

        """
    static let two = """
        -----BEGIN CERTIFICATE-----
        MIIBczCCARmgAwIBAgIUcc2x2ZTdLRWZosDUamGd97wN2aswCgYIKoZIzj0EAwIw
        DjEMMAoGA1UEAwwDdHdvMCAXDTI2MTEyODE5MjgyN1oYDzIxMjUwNjIyMTkyODI3
        WjAOMQwwCgYDVQQDDAN0d28wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQLPfK4
        Or2qNSu+JT7VxcqkBex3uKIy2BBWLUzcMXTPW0aWmkxt6d/ecAeXyZQ0qNey/D2t
        bRBYprvV1tvn8WMqo1MwUTAdBgNVHQ4EFgQUliW36AQqaix9qNv/3zL1Qio5HJUw
        HwYDVR0jBBgwFoAUliW36AQqaix9qNv/3zL1Qio5HJUwDwYDVR0TAQH/BAUwAwEB
        /zAKBggqhkjOPQQDAgNIADBFAiAsWVfuN6uYDpUx4duW6U24TmC4j07JV9kI/Gon
        VtdHygIhAPnmRYJuoV+jos2XtOu/tQDXgixo9ixYb3Lcf/tAP0no
        -----END CERTIFICATE-----

        """
    static let twoKey = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIGm8w/8a6BW+m4+K2VwS2iQwOT71bVoFlcK8M7CSDTBSoAoGCCqGSM49
        AwEHoUQDQgAECz3yuDq9qjUrviU+1cXKpAXsd7iiMtgQVi1M3DF0z1tGlppMbenf
        3nAHl8mUNKjXsvw9rW0QWKa71dbb5/FjKg==
        -----END EC PRIVATE KEY-----

        """
    /// Another one of the first key, which has expired.
    static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBGzCBwQIUZ/oyRRDkFajTIOuvPVt84MSZCWUwCgYIKoZIzj0EAwIwDjEMMAoG
        A1UEAwwDb25lMB4XDTI2MTEyODE5MjgyN1oXDTI2MTEyNzE5MjgyN1owEjEQMA4G
        A1UEAwwHZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOJuY0K3nbRn
        NdhQRB7leKpQDTxsfkW4dP/h8lRBKZ9wLHMTkEp0zIqehpmbGH1B609AuVY4G3eC
        Sy3Z8q6lxlIwCgYIKoZIzj0EAwIDSQAwRgIhAL8ctFg3g//eQbVWgnW3OwzS3yc5
        +y/hHsVhdz1DUIm2AiEAwvXm+MWtkjFRyGEyQRztMvmI8Gs5aEn0OJffMRM5ccE=
        -----END CERTIFICATE-----

        """
}
