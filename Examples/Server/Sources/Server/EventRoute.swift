import Foundation
import Hummingbird
import ServiceLifecycle
import Vellum

/// Sends the newest items as server-sent events, now and after each
/// change.
struct EventRoute: Sendable {
    let items: ArchiveStore<Item>
    let streams: OpenStreams

    func response(to request: Request) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                // Ends when the client has gone.
                try await request.body
                    .consumeWithCancellationOnInboundClose { _ in
                        try await send(to: &writer)
                    }
                try await writer.finish(nil)
            }
        )
    }

    private func send(
        to writer: inout any ResponseBodyWriter
    ) async throws {
        streams.begin()
        defer { streams.end() }
        let newest = items.observe(
            sortedBy: [SortDescriptor(\.changed, order: .reverse)],
            limit: 100
        )
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        // Ends when the server shuts down.
        for try await list in newest.cancelOnGracefulShutdown() {
            var event = ByteBuffer(string: "data: ")
            event.writeBytes(try encoder.encode(list))
            event.writeString("\n\n")
            try await writer.write(event)
        }
    }
}
