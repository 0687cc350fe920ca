/// Classes that encode their superclass in each of the three ways.
class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }

    private enum CodingKeys: CodingKey { case name }

    required init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        var map = encoder.container(keyedBy: CodingKeys.self)
        try map.encode(name, forKey: .name)
    }
}

/// Encodes its superclass with the key `super`.
class Dog: Animal {
    var tricks: [String]

    init(name: String, tricks: [String]) {
        self.tricks = tricks
        super.init(name: name)
    }

    private enum CodingKeys: CodingKey { case tricks }

    required init(from decoder: any Decoder) throws {
        let map = try decoder.container(keyedBy: CodingKeys.self)
        tricks = try map.decode([String].self, forKey: .tricks)
        try super.init(from: map.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var map = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: map.superEncoder())
        try map.encode(tricks, forKey: .tricks)
    }
}

/// Encodes its superclass with a custom key, after its properties.
final class Puppy: Dog {
    var weeks: Int

    init(name: String, tricks: [String], weeks: Int) {
        self.weeks = weeks
        super.init(name: name, tricks: tricks)
    }

    private enum CodingKeys: CodingKey { case weeks, dog }

    required init(from decoder: any Decoder) throws {
        let map = try decoder.container(keyedBy: CodingKeys.self)
        weeks = try map.decode(Int.self, forKey: .weeks)
        try super.init(from: map.superDecoder(forKey: .dog))
    }

    override func encode(to encoder: any Encoder) throws {
        var map = encoder.container(keyedBy: CodingKeys.self)
        let dog = map.superEncoder(forKey: .dog)
        try map.encode(weeks, forKey: .weeks)
        try super.encode(to: dog)
    }
}

/// Shares the container of its superclass.
final class Cat: Animal {
    var lives: Int

    init(name: String, lives: Int) {
        self.lives = lives
        super.init(name: name)
    }

    private enum CodingKeys: CodingKey { case lives }

    required init(from decoder: any Decoder) throws {
        let map = try decoder.container(keyedBy: CodingKeys.self)
        lives = try map.decode(Int.self, forKey: .lives)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var map = encoder.container(keyedBy: CodingKeys.self)
        try map.encode(lives, forKey: .lives)
    }
}

/// Encodes its superclass in an array.
final class Bird: Animal {
    var wings: Int

    init(name: String, wings: Int) {
        self.wings = wings
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        var array = try decoder.unkeyedContainer()
        wings = try array.decode(Int.self)
        try super.init(from: array.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var array = encoder.unkeyedContainer()
        try array.encode(wings)
        try super.encode(to: array.superEncoder())
    }
}
