// The examples of the page of CBORCoding.

import CBORCoding
import Foundation

struct Reading: Codable {
    var station: String
    var taken: Date
    var values: [Double]
}

let reading = Reading(station: "Bern", taken: Date(), values: [1.5])

let data = try CBOREncoder().encode(reading)
let again = try CBORDecoder().decode(Reading.self, from: data)
print(again.station)
