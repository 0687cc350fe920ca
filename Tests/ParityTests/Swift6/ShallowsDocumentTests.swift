import Foundation
import Shallows
import TestThreads
import Testing

/// The blocks of the document of Shallows, and what its text says. Those that need a disk are in a
/// file of their own.
@Suite(.ownThreads)
struct ShallowsDocumentTests {
    enum ImageKeys: String {
        case kitten, puppy, fish
    }

    /// "Storage instances have retrieve and set methods, which are asynchronous and fallible"
    @Test func whatIsSetIsRetrieved() async {
        let answers = Answers<String>()
        func callSite() {
            let storage = MemoryStorage<String, Int>().asStorage()  // Storage<String, Int>
            storage.retrieve(forKey: "some-key") { (result) in
                switch result {
                case .success(let value):
                    answers.give("\(value)")
                case .failure(let error):
                    answers.give("\(error)")
                }
            }
            storage.set(10, forKey: "some-key") { (result) in
                switch result {
                case .success:
                    answers.give("Value set!")
                case .failure(let error):
                    answers.give("\(error)")
                }
            }
            storage.retrieve(forKey: "some-key") { (result) in
                if let value = try? result.get() { answers.give("\(value)") }
            }
        }
        callSite()
        #expect(await answers.first(3) == ["noValue", "Value set!", "10"])
    }

    /// "Keys and values can be mapped"
    @Test func keysAndValuesAreMapped() async throws {
        let answers = Answers<UIImage?>()
        let storage = MemoryStorage<Filename, Data>()  // Storage<Filename, Data>
        func callSite() {
            let images =
                storage
                .mapValues(
                    to: UIImage.self,
                    transformIn: { data in try UIImage.init(data: data).unwrap() },
                    // Storage<Filename, UIImage>
                    transformOut: { image in try UIImagePNGRepresentation(image).unwrap() }
                )

            let keyedImages =
                images
                .usingStringKeys()
                .mapKeys(toRawRepresentableType: ImageKeys.self)  // Storage<ImageKeys, UIImage>

            keyedImages.retrieve(
                forKey: .kitten,
                completion: { result in answers.give(try? result.get()) }
            )
            keyedImages.retrieve(
                forKey: .puppy,
                completion: { result in answers.give(try? result.get()) }
            )
            keyedImages.retrieve(
                forKey: .fish,
                completion: { result in answers.give(try? result.get()) }
            )
        }
        storage.storage = ["kitten": Data("PNG a kitten".utf8), "puppy": Data("no image".utf8)]
        callSite()
        #expect(await answers.first(3).map(\.?.pixels) == ["a kitten", nil, nil])
    }

    /// "the memory storage first will be checked first", "it will be pulled to memory storage", "it
    /// will be set both to memory and disk"
    @Test func compositionsPullAndPush() async throws {
        let memory = MemoryStorage<Filename, String>()
        let imageStorage = MemoryStorage<Filename, String>(storage: ["puppy": "a puppy"])
        let efficient = memory.combined(with: imageStorage)

        #expect(try await efficient.retrieve(forKey: "puppy") == "a puppy")
        #expect(memory.storage == ["puppy": "a puppy"])
        imageStorage.storage["puppy"] = "another puppy"
        #expect(try await efficient.retrieve(forKey: "puppy") == "a puppy")
        try await efficient.set("a kitten", forKey: "kitten")
        #expect(memory.storage["kitten"] == "a kitten")
        #expect(imageStorage.storage["kitten"] == "a kitten")
    }

    /// "you can make it a read-only storage"
    @Test func aReadOnlyStorageIsRetrievedFrom() async throws {
        let storage = MemoryStorage<String, Int>(storage: ["one": 1])
        let readOnly = storage.asReadOnlyStorage()  // ReadOnlyStorage<String, Int>
        let typed: ReadOnlyStorage<String, Int> = readOnly
        #expect(try await typed.retrieve(forKey: "one") == 1)
    }

    /// "write-only storage is also available"
    @Test func aWriteOnlyStorageIsSetTo() async throws {
        let storage = MemoryStorage<String, Int>()
        let writeOnly = storage.asWriteOnlyStorage()  // WriteOnlyStorage<String, Int>
        let typed: WriteOnlyStorage<String, Int> = writeOnly
        try await typed.set(1, forKey: "one")
        #expect(storage.storage == ["one": 1])
    }

    /// "Different ways of composition": `backed` "will not push the value to the back storage",
    /// `pushing` "will not retrieve" from it
    @Test func compositionsOfOneWayPullOrPush() async throws {
        let (front, back) = (
            MemoryStorage<String, Int>(), MemoryStorage<String, Int>(storage: ["old": 1])
        )
        let backed: Storage<String, Int> = front.backed(by: back)
        try await backed.set(2, forKey: "new")
        #expect(try await backed.retrieve(forKey: "old") == 1)
        #expect(front.storage == ["new": 2, "old": 1])
        #expect(back.storage == ["old": 1])

        front.storage = [:]
        let pushing: Storage<String, Int> = front.pushing(to: back)
        await #expect(throws: MemoryStorageError.noValue) {
            try await pushing.retrieve(forKey: "old")
        }
        try await pushing.set(3, forKey: "newer")
        #expect(front.storage == ["newer": 3])
        #expect(back.storage == ["old": 1, "newer": 3])

        front.storage = [:]
        let readOnly: ReadOnlyStorage<String, Int> = front.asReadOnlyStorage().backed(by: back)
        #expect(try await readOnly.retrieve(forKey: "old") == 1)
        #expect(front.storage == [:])

        let writeOnly: WriteOnlyStorage<String, Int> = front.asWriteOnlyStorage().pushing(to: back)
        try await writeOnly.set(4, forKey: "newest")
        #expect(front.storage["newest"] == 4)
        #expect(back.storage["newest"] == 4)
    }

    /// "Shallows provides a convenient .update method on storages"
    @Test func aValueIsUpdated() {
        let arrays = MemoryStorage<String, [Int]>(storage: ["some-key": [1]])
        arrays.update(forKey: "some-key", { $0.append(10) })
        #expect(arrays.storage == ["some-key": [1, 10]])
    }

    /// "you get result only when both of them completes for your request"
    @Test func pairsAreRetrievedWhole() async {
        let answers = Answers<String>()
        let strings = MemoryStorage<String, String>()
        let numbers = MemoryStorage<String, Int>()
        func callSite() {
            let zipped = zip(strings, numbers)  // Storage<String, (String, Int)>
            zipped.retrieve(forKey: "some-key") { (result) in
                if let (string, number) = try? result.get() {
                    answers.give(string)
                    answers.give("\(number)")
                }
            }
            zipped.set(("shallows", 3), forKey: "another-key")
        }
        callSite()
        #expect(strings.storage == ["another-key": "shallows"])
        #expect(numbers.storage == ["another-key": 3])
        strings.storage["some-key"] = "left"
        callSite()
        numbers.storage["some-key"] = 7
        callSite()
        #expect(await answers.first(2) == ["left", "7"])
    }

    /// "You can protect your storage instance from failures using fallback(with:) or
    /// defaulting(to:) methods"
    @Test func failuresAreRecoveredFrom() async throws {
        let storage = MemoryStorage<String, Int>(storage: ["one": 1])
        let protected = storage.fallback(with: { error in
            switch error {
            case MemoryStorageError.noValue:
                return 15
            default:
                return -1
            }
        })
        #expect(try await protected.retrieve(forKey: "nothing") == 15)
        #expect(try await protected.retrieve(forKey: "one") == 1)

        let failing = storage.mapKeys { (_: String) -> String in throw Broken() }.fallback(with: {
            error in
            switch error {
            case MemoryStorageError.noValue:
                return 15
            default:
                return -1
            }
        })
        #expect(try await failing.retrieve(forKey: "one") == -1)

        let defaulted = storage.defaulting(to: -1)
        #expect(try await defaulted.retrieve(forKey: "nothing") == -1)
    }

    /// "update will use default value of [] instead of just failing the whole update"
    @Test func anUpdateBeginsWithTheDefault() {
        let storage = MemoryStorage<String, [Int]>()
        storage.defaulting(to: []).update(forKey: "first", { $0.append(10) })
        #expect(storage.storage == ["first": [10]])
        storage.update(forKey: "second", { $0.append(10) })
        #expect(storage.storage == ["first": [10]])
    }

    /// "The most basic one": it can be looked into and changed at once, too.
    @Test func theDictionaryOfAMemoryStorageIsReadableAndWritable() {
        let storage = MemoryStorage<String, Int>()
        storage.storage["one"] = 1
        #expect(storage.storage == ["one": 1])
    }
}
