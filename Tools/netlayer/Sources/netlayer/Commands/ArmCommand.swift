import ArgumentParser
import Foundation
import NetworkLayer

struct ArmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "arm", abstract: "An arm of 'compare', which starts it.", shouldDisplay: false)

    func run() async throws {
        try await withTaskCancellationHandler {
            try await work()
        } onCancel: {
            RunningProgram.endForGood()
        }
    }

    private func work() async throws {
        // A comparison that is gone needs no more of the block that runs.
        let lines = ArmProcess.lines(of: .standardInput) {
            RunningProgram.endForGood()
            _exit(0)
        }
        var worker: (any BlockWorker)?
        for try await line in lines {
            if let worker {
                try await reply(.block(try await worker.run(try JSONDecoder().decode(BlockOrder.self, from: line))))
                continue
            }
            do {
                worker = try await self.worker(for: try JSONDecoder().decode(ArmOrder.self, from: line))
            } catch let failure as ToolFailure {
                return try await reply(.refused(failure.message))
            } catch let error as NetworkError {
                return try await reply(.refused(error.description))
            }
        }
    }

    private func worker(for order: ArmOrder) async throws -> any BlockWorker {
        let (arm, command): (ArmSpecification, CompareCommand)
        do {
            (arm, command) = (try ArmSpecification(order.arm), try CompareCommand.parse(order.arguments))
        } catch {
            throw ToolFailure(.usage, CompareCommand.message(for: error))
        }
        // Before the reply, after which the file has no name.
        let counter = try SharedNumber(path: order.counter)
        let running = try SharedNumber(path: order.counter, place: 1)
        if let program = command.exec {
            try await reply(.ready(library: "\(TransportKind.variable)=\(arm.variable)"))
            return ProgramWorker(
                program, under: arm.variable, timeout: .seconds(command.requestTimeout), counter: counter,
                program: running)
        }
        let transport = arm.transport()
        var requests = try await command.requestsToCompare(InputFiles(read: order.files))
        if let version = arm.httpVersion {
            for index in requests.indices { requests[index].request.options.httpVersion = version }
        }
        let worker = try ArmWorker(requests, over: transport, usesPipeline: !command.noPipeline, counter: counter)
        try await reply(.ready(library: transport.capabilities.basis))
        return worker
    }

    private func reply(_ reply: ArmReply) async throws {
        try await OutputWriter.standardOutput.write(try JSONEncoder().encode(reply) + [UInt8(ascii: "\n")])
    }
}
