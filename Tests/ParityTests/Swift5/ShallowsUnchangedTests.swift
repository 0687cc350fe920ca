import Dispatch
import Foundation
import Shallows
import TestThreads
import Testing

// Code as it was written for Shallows before Swift knew what may go from one thread to another:
// classes that anyone may change, completions that are passed on, captured variables. It compiles
// in Swift 5 mode as it is, without a warning.

private struct City: Codable {
    let name: String
    let foundationYear: Int
}

/// Not safe, as far as the compiler can see, and not final.
private class UserDefaultsLike: StorageProtocol {
    var values: [String: Any] = [:]
    let queue = DispatchQueue(label: "user-defaults")

    var storageName: String { return "user-defaults" }

    func retrieve(forKey key: String, completion: @escaping (Result<Data, Error>) -> ()) {
        queue.async {
            do {
                let value = try (self.values[key] as? Data).unwrap()
                completion(.success(value))
            } catch {
                completion(.failure(error))
            }
        }
    }

    func set(_ value: Data, forKey key: String, completion: @escaping (Result<Void, Error>) -> ()) {
        queue.async {
            self.values[key] = value
            completion(.success(()))
        }
    }
}

private final class WebAPI: ReadOnlyStorageProtocol {
    enum Request {
        case path(String)
    }

    final class Response {
        var body = ""
    }

    private let underlying: ReadOnlyStorage<Request, Response>
    var session: AnyObject?

    init(provider: ReadOnlyStorage<Request, Response>) {
        self.underlying = provider
    }

    func retrieve(forKey request: Request, completion: @escaping (ShallowsResult<Response>) -> ()) {
        underlying.retrieve(forKey: request, completion: completion)
    }
}

extension ReadOnlyStorageProtocol {
    fileprivate func onMain() -> ReadOnlyStorage<Key, Value> {
        return ReadOnlyStorage(
            storageName: self.storageName,
            retrieve: { (key, completion) in
                self.retrieve(
                    forKey: key,
                    completion: { (result) in
                        DispatchQueue.main.async {
                            completion(result)
                        }
                    }
                )
            }
        )
    }
}

extension Storage where Key == Void {
    fileprivate func writing(to memoryWrite: @escaping (Value) -> ()) -> Storage<Key, Value> {
        return Storage<Key, Value>(
            storageName: self.storageName,
            retrieve: { (_, completion) in
                self.retrieve(completion: { (result) in
                    if let value = try? result.get() {
                        memoryWrite(value)
                    }
                    completion(result)
                })
            },
            set: { (value, _, completion) in
                self.set(
                    value,
                    completion: { (result) in
                        if case .success = result { memoryWrite(value) }
                        completion(result)
                    }
                )
            }
        )
    }
}

@Suite(.ownThreads)
struct ShallowsUnchangedTests {
    /// "Usage"
    @Test func theFirstBlockOfTheDocument() async {
        let answers = Answers<String>()
        func callSite() {
            let diskStorage = UserDefaultsLike()
                .mapJSONObject(City.self)  // Storage<String, City>

            let kharkiv = City(name: "Kharkiv", foundationYear: 1654)
            diskStorage.set(kharkiv, forKey: "kharkiv")

            diskStorage.retrieve(forKey: "kharkiv") { (result) in
                if let city = try? result.get() { answers.give(city.name) }
            }
        }
        callSite()
        #expect(await answers.first == "Kharkiv")
    }

    @Test func variablesAreCapturedAndChanged() {
        let storage = MemoryStorage<String, Int>(storage: ["a": 1])
        var found = 0
        storage.retrieve(forKey: "a") { (result) in
            found = (try? result.get()) ?? -1
        }
        storage.update(
            forKey: "a",
            { number in
                found += 1
                number += found
            }
        )
        #expect(found == 2)
        #expect(storage.storage == ["a": 3])
    }

    @Test func completionsAreWaitedForWithASemaphore() {
        let storage = UserDefaultsLike().combined(with: MemoryStorage<String, Data>())
        let semaphore = DispatchSemaphore(value: 0)
        var value: Data?
        storage.set(Data("a".utf8), forKey: "a") { _ in
            storage.retrieve(
                forKey: "a",
                completion: { result in
                    value = try? result.get()
                    semaphore.signal()
                }
            )
        }
        semaphore.wait()
        #expect(value == Data("a".utf8))
    }

    @Test func valuesMayBeObjectsThatAnyoneMayChange() async throws {
        let responses = MemoryStorage<String, WebAPI.Response>(storage: ["a": WebAPI.Response()])
        let api = WebAPI(
            provider: responses.asReadOnlyStorage().mapKeys { (request: WebAPI.Request) in
                guard case .path(let path) = request else { return "" }
                return path
            }
        )
        let bodies = api.mapKeys { .path($0) }.mapValues { (response: WebAPI.Response) -> String in
            response.body += "!"
            return response.body
        }
        #expect(try await bodies.retrieve(forKey: "a") == "!")
    }

    @Test func extensionsTakeAnyClosure() {
        let memory = MemoryStorage<String, Int>()
        var written: [Int] = []
        let storage = memory.singleKey("only").writing(to: { written.append($0) })
        storage.set(1)
        storage.retrieve { _ in }
        #expect(written == [1, 1])
        _ = memory.asReadOnlyStorage().onMain()
    }
}
