import Benchmark
import Samples
import Vellum

let benchmarks: @Sendable () -> Void = {
    let scales: [Scale] =
        Workspace().isQuick
        ? [.thousand, .twentyThousand] : [.thousand, .twentyThousand, .million]
    for scale in scales {
        registerAll(of: User.self, scale)
        registerAll(of: Airport.self, scale)
    }
    Runner.register(UpdateComparison.make(.twentyThousand))
    Runner.register(ManyKeysComparison.make(.twentyThousand))
    // With so many turns that their p99.9 is not their maximum.
    Runner.register(
        RecordComparison<User>.make(
            .recordOver,
            .twentyThousand,
            rounds: 20_000,
            seconds: 15,
            changed: User.make(_:changedIn:)
        )
    )
    Runner.register(RecordComparison<User>.make(.recordPowerSafe, .twentyThousand, rounds: 1000))
    Runner.register(RecordComparison<Airport>.make(.recordPowerSafe, .twentyThousand, rounds: 1000))

    registerAll(ofSize: Blob100.self, .thousand)
    registerAll(ofSize: Blob1K.self, .thousand)
    registerAll(ofSize: Blob64K.self, .hundred)
    registerAll(ofSize: Blob4M.self, .eight)

    let many: Scale = Workspace().isQuick ? .hundredThousand : .million
    for scale in [.tenThousand, many] { registerQueries(of: Resident.self, scale) }
    registerQueries(of: IndexedAirport.self, .airports)
    for work in [Work.querySum, .queryAverage] {
        Runner.register(AggregateComparison.make(work, .hundredThousand))
    }
    let sizes: [Scale] =
        Workspace().isQuick ? [many, .tenThousand] : [many, .tenThousand, .threeMillion]
    for work in GrowthComparison.works { Runner.register(GrowthComparison.make(work, sizes)) }
    Runner.register(FilterComparison.make(Workspace().isQuick ? .tenThousand : .hundredThousand))
    Runner.register(IndexCostComparison.make(.recordIndexed, .twentyThousand))
    Runner.register(IndexCostComparison.make(.bulkIndexed, .twentyThousand))

    for scale in [Scale.thousand, .hundredThousand] {
        Runner.register(CacheHitComparison.make(scale))
        Runner.register(CacheLoadComparison.make(scale))
        Runner.register(CacheDiskHitComparison.make(scale))
        Runner.register(CacheSetComparison.make(.cacheSetNew, scale))
        Runner.register(CacheSetComparison.make(.cacheSetOver, scale))
    }

    for scale in [Scale.thousand, .hundredThousand] {
        Runner.register(ShallowsHitComparison.make(scale))
        Runner.register(ShallowsSetComparison.make(scale))
    }
    registerFolders(ofSize: Blob100.self, .thousand, rounds: 10_000)
    registerFolders(ofSize: Blob64K.self, .hundred, rounds: 5000)
    registerFolders(ofSize: Blob4M.self, .eight, rounds: 1000)

    registerCoders(of: User.self)
    registerCoders(of: Member.self)
    registerCoders(of: Ride.self)
    registerCoders(of: Article.self)
    registerCoders(of: Order.self)
    registerCoders(of: Airport.self)
    Runner.register(StoreCoderComparison.recordOver(.twentyThousand))
    Runner.register(StoreCoderComparison.diskHit(.twentyThousand))
    Runner.register(StoreCoderComparison.unindexed(.hundredThousand))
}

private func registerAll<Value: Subject>(of type: Value.Type, _ scale: Scale) {
    Runner.register(MemoryHitComparison<Value>.make(scale))
    Runner.register(DiskHitComparison<Value>.make(scale))
    Runner.register(RecordComparison<Value>.make(.recordNew, scale))
    Runner.register(BulkComparison<Value>.make(scale))
    Runner.register(OpeningComparison<Value>.make(scale))
}

private func registerAll<Value: Blob>(ofSize type: Value.Type, _ scale: Scale) {
    Runner.register(MemoryHitComparison<Value>.make(scale, seconds: 1))
    Runner.register(
        DiskHitComparison<Value>.make(scale, memory: DataSize(bytes: 2 * Value.size), rounds: 2000)
    )
    Runner.register(RecordComparison<Value>.make(.recordNew, scale, rounds: 1000, seconds: 4))
    Runner.register(RecordComparison<Value>.make(.recordPowerSafe, scale, rounds: 500, seconds: 4))
}

private func registerFolders<Value: Blob>(ofSize type: Value.Type, _ scale: Scale, rounds: Int) {
    Runner.register(
        ShallowsFolderComparison<Value>.make(.shallowsFolderSetOver, scale, rounds: rounds)
    )
    Runner.register(ShallowsFolderComparison<Value>.make(.shallowsFolderHit, scale, rounds: rounds))
    Runner.register(
        ShallowsFolderComparison<Value>.make(.shallowsFolderSetNew, scale, rounds: rounds / 5)
    )
    Runner.register(ShallowsSQLiteComparison<Value>.make(.shallowsSQLiteHit, scale, rounds: rounds))
    Runner.register(
        ShallowsSQLiteComparison<Value>.make(.shallowsSQLiteSet, scale, rounds: rounds / 5)
    )
    Runner.register(
        ShallowsSQLiteComparison<Value>.make(
            .shallowsSQLiteSetPowerSafe,
            scale,
            rounds: rounds / 10
        )
    )
}

private func registerQueries<Value: QuerySubject>(of type: Value.Type, _ scale: Scale) {
    for question in Value.questions(amongst: scale.rawValue) {
        Runner.register(QueryComparison.make(question, scale))
    }
}

private func registerCoders<Value: Coded>(of type: Value.Type) {
    Runner.register(CoderComparison<Value>.make(.coderEncode))
    Runner.register(CoderComparison<Value>.make(.coderDecode))
}
