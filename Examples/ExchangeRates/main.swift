// Caches a slow source that fails: a stampede, hits, stale values, stale-if-error, remembered
// errors and misses, ages that the loader says, timeouts and loads ahead of the end of an age, with
// numbers.
//
//     swift run -c release ExchangeRates

import Foundation

let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
    "ExchangeRates-\(UUID().uuidString)",
    isDirectory: true
)
print(
    """
    A server of exchange rates that takes \(RateServer.delay) to answer, behind a cache whose \
    rates are good for a minute.\n
    """
)
try await Demonstration(directory: directory).run()
try FileManager.default.removeItem(at: directory)
