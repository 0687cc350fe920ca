# `make demo` and `make test` work on a fresh clone with only the Swift toolchain.

SWIFT ?= swift

.PHONY: help pressure demo demo-fleet demo-observe demo-outage bench-observe bench-await bench-files bench-shared quick test test-shared server valkey-server fleet steady built lint format bench instructions measure docs api frozen beside mutations spines tool test-tool test-server install \
	long tsan asan crash crash-backups faults damage fuzz soak bounded setup

# Prints the targets.
help:
	@awk '/^#/ { text = text " " substr($$0, 3); next } /^[a-z-]+:/ && text != "" { sub(/:.*/, ""); sub(/\. .*/, ".", text); printf "%-14s%s\n", $$0, text } { text = "" }' Makefile

setup:
	@sh Scripts/setup.sh

# What needs packages of others is built apart, because traits change what is built.
SHARED = --traits Valkey,Metrics --scratch-path .build/shared

# Runs the example on real data. Its archives are kept in the build folder, unless the arguments name another.
demo: setup
	@$(SWIFT) build -c release --product AirportsBefore
	@$(SWIFT) build -c release --product Airports
	@"$$($(SWIFT) build -c release --show-bin-path)/Airports" $(ARGUMENTS) .build/Airports

# Four processes, one server that is killed and comes back, and a slow source. CLUSTER=1: a cluster that loses a primary.
demo-fleet: setup valkey-server
	@$(SWIFT) build -c release --product Fleet $(SHARED)
	@"$$($(SWIFT) build -c release --show-bin-path $(SHARED))/Fleet" $(if $(CLUSTER),cluster)

# Two processes: one changes a queue, the other observes it.
demo-observe: setup
	@$(SWIFT) build -c release --product Observe
	@"$$($(SWIFT) build -c release --show-bin-path)/Observe"

# A cache under load while its source hangs and fails, as its metrics show it: 40 seconds, a table, and a picture in .build/outage.
demo-outage: setup
	@$(SWIFT) build -c release --product Outage $(SHARED)
	@"$$($(SWIFT) build -c release --show-bin-path $(SHARED))/Outage" $(ARGUMENTS)

# What observing costs: records, delays, an idle minute and memory.
bench-observe: setup
	@$(SWIFT) build -c release --product ObservingBenchmark
	@"$$($(SWIFT) build -c release --show-bin-path)/ObservingBenchmark"

# What awaiting costs, and what it costs others, beside `perform` and GRDB. Fails above its limits.
bench-await: setup
	@cc -shared -fPIC -O2 -o .build/slow_sync.so Benchmarks/slow_sync.c -ldl
	@$(SWIFT) build -c release --package-path Benchmarks --product Awaiting
	@bench="$$($(SWIFT) build -c release --package-path Benchmarks --show-bin-path)/Awaiting"; \
		"$$bench" && LD_PRELOAD="$$PWD/.build/slow_sync.so" "$$bench" --slow-sync

# What a file of a million entries takes to look into, to copy and to check, beside SQLite by hand. Fails above its limits.
bench-files: setup
	@$(SWIFT) build -c release --product FilesBenchmark
	@"$$($(SWIFT) build -c release --show-bin-path)/FilesBenchmark" $(ARGUMENTS)

# Shared caches beside a bare connection, a cache of one machine and the server's own benchmark.
bench-shared: setup valkey-server
	@sh Scripts/setup.sh hiredis libhiredis-dev hiredis-devel || true
	@$(SWIFT) build -c release --product SharedBenchmark $(SHARED)
	@cc -O2 -o .build/shared/hiredis_get Benchmarks/hiredis_get.c -lhiredis || rm -f .build/shared/hiredis_get
	@HIREDIS=.build/shared/hiredis_get \
		"$$($(SWIFT) build -c release --show-bin-path $(SHARED))/SharedBenchmark"

# The user's cache folder is a temporary one: it may hold files of another version of this package. Four tests at a time: threads that wait take
# no processor, and what is only busy is not faster with more.
WIDTH = $(shell $(SWIFT) test --help-hidden 2>/dev/null | grep -q maximum-parallelization-width \
	&& echo --experimental-maximum-parallelization-width 4)
TEST = export VELLUM_TESTS=$(or $(KIND),all); caches=$$(mktemp -d) && trap 'rm -rf "$$caches"' EXIT && \
	XDG_CACHE_HOME="$$caches" $(SWIFT) test --skip-build --disable-xctest $(WIDTH)
# Long suites: two at a time, because each has processes of its own. With VALKEY=1 LINES=1 they take the build of `.ci/run`.
LONG = VELLUM_TESTS=all $(SWIFT) test $(FLAVOR) $(subst 4,2,$(WIDTH))
# VALKEY=1 builds with the traits `Valkey` and `Metrics` and runs the tests of shared caches and of metrics, too. TLS=1 does it with the
# trait `ValkeyTLS`, whose library takes minutes to build.
FLAVOR = $(if $(TLS),$(subst Valkey,ValkeyTLS,$(subst shared,shared-tls,$(SHARED))),$(if $(VALKEY),$(SHARED)))
# Tests are built without the information for debuggers, which takes a tenth of the time. A crash names functions all the same. With LINES=1 it
# names lines, too, which `make spines` needs. One batch for each module: with two, which the driver makes for two processors, both check the types
# of the whole module, which takes a fifth more of the processor; modules are built beside each other all the same.
PLAIN = -debug-info-format $(or $(DEBUG_INFO),none) $(if $(LINES),-Xswiftc -gline-tables-only) -Xswiftc -driver-batch-count -Xswiftc 1
BUILD = VELLUM_TESTS=$(or $(KIND),all) $(SWIFT) build --build-tests $(PLAIN)
FOLDER = $(if $(TLS),.build/shared-tls,$(if $(VALKEY),.build/shared,.build))

# Builds and runs what most changes need: all but kills, damage, power loss, parity, shared caches on a server and random queries.
quick: KIND = quick
quick: setup
	$(BUILD) --scratch-path .build/quick
	$(TEST) --scratch-path .build/quick $(ARGUMENTS)

# Runs all tests, and checks programs that use the products.
test: setup $(if $(VALKEY)$(TLS),valkey-server)
	$(BUILD) $(FLAVOR)
	@sh Scripts/check-clients.sh $(FOLDER)/debug $(if $(VALKEY)$(TLS),--valkey)
	$(TEST) $(FLAVOR) $(ARGUMENTS)

# Runs the tests of one build beside other work, on one processor, on a slow disk and idle, fifteen times in all, and fails if one of the runs
# at this commit was red. Goes on where it was interrupted.
steady: setup $(if $(VALKEY),valkey-server)
	@sh Scripts/setup.sh stress-ng stress-ng stress-ng
	@mkdir -p .build && cc -shared -fPIC -O2 -o .build/slow_sync.so Benchmarks/slow_sync.c -ldl
	$(BUILD) $(FLAVOR)
	@python3 Scripts/steady.py --runs .build/steady .build/slow_sync.so -- $(SWIFT) test --skip-build --disable-xctest $(WIDTH) $(FLAVOR)

# Runs the tests of shared caches, which start servers of their own. TLS=1 runs them with the trait `ValkeyTLS`.
test-shared:
	@sh Scripts/check-traits.sh
	@$(MAKE) test VALKEY=1 ARGUMENTS="--filter ValkeyTests $(ARGUMENTS)"

valkey-server:
	@sh Scripts/setup.sh redis-server redis-server redis

# Builds the example of a server, which is a package of its own and needs Hummingbird, and runs its tests. Without ARGUMENTS, Scripts/users.txt
# then says that they passed, so that continuous integration need not.
server: setup
	@$(if $(ARGUMENTS),$(MAKE) test-server,sh Scripts/check-users.sh --always server)

test-server: setup
	$(SWIFT) build --build-tests $(PLAIN) --package-path Examples/Server --scratch-path .build/server
	$(SWIFT) test --skip-build --disable-xctest $(PLAIN) --package-path Examples/Server --scratch-path .build/server $(ARGUMENTS)

# Builds the command `vellum`, which is a package of its own and needs swift-argument-parser, and runs its tests, also as a person does. Without
# ARGUMENTS, Scripts/users.txt then says that they passed.
tool: setup
	@$(if $(ARGUMENTS),$(MAKE) test-tool,sh Scripts/check-users.sh --always tool)

test-tool: setup
	@sh Scripts/setup.sh tmux tmux tmux && sh Scripts/setup.sh jq jq jq
	$(SWIFT) build --build-tests $(PLAIN) --package-path Tools
	$(SWIFT) test --skip-build --disable-xctest $(PLAIN) --package-path Tools $(ARGUMENTS)
	bash Tools/check.sh "$$($(SWIFT) build $(PLAIN) --package-path Tools --show-bin-path)"

PREFIX ?= /usr/local
# Builds the command `vellum` and installs it in PREFIX/bin, with completions for bash, zsh and fish. DESTDIR goes before PREFIX.
install: setup
	@SWIFT="$(SWIFT)" sh Tools/install.sh "$(DESTDIR)$(PREFIX)"

SECONDS ?= 60
# Runs eight processes that share a cache while something goes wrong with its server or its cluster, each trouble for SECONDS. VELLUM_SEED selects
# another seed.
fleet:
	@VELLUM_FLEET=$(SECONDS) $(MAKE) test VALKEY=1 ARGUMENTS="--filter FleetTests $(ARGUMENTS)"

# Not those that kill, fork, count the resources of a process, or need most of a stack.
SANITIZED = --skip 'CrashTests|FullDisk|ReadOnly|OpenFiles|aFileThatIsTooLarge|LittleStack|aLongChainOfObjects'
# Runs all tests with as many seeds, rounds and entries as find what is rare: `make test` has a part of each.
long: setup
	$(BUILD) $(FLAVOR)
	export VELLUM_LONG=1; $(TEST) $(FLAVOR) $(ARGUMENTS)

# Runs the tests under ThreadSanitizer.
tsan: setup
	$(BUILD) --sanitize=thread --scratch-path .build/tsan
	$(TEST) --sanitize=thread --scratch-path .build/tsan $(SANITIZED) $(ARGUMENTS)

# Runs the tests under AddressSanitizer. Leaks are not checked: tests of storages that never reply have some.
asan: setup
	$(BUILD) --sanitize=address --scratch-path .build/asan
	export ASAN_OPTIONS=detect_leaks=0; $(TEST) --sanitize=address --scratch-path .build/asan $(SANITIZED) $(ARGUMENTS)

# Kills thousands of processes, and each crash point at least twenty times. VELLUM_SEED selects another seed.
crash: setup
	VELLUM_KILLS=$${VELLUM_KILLS:-2400} $(LONG) $(PLAIN) --filter 'CrashTests\.(.*KillTests|OpeningTests|ManyProcesses|NeverStale|LogSize|TwoVersions|ObservingProcess)' $(ARGUMENTS)
	export VELLUM_KILLS=100; $(TEST) $(FLAVOR) --filter 'CrashTests.CrashTests|IndexCrashTests' $(ARGUMENTS)

# Kills 500 backups while two processes write. VELLUM_SEED selects another seed.
crash-backups: setup
	VELLUM_KILLS=1 VELLUM_BACKUP_KILLS=$${VELLUM_BACKUP_KILLS:-500} $(LONG) $(PLAIN) --filter BackupKillTests $(ARGUMENTS)

# Tests power loss and failing disks: every image and every fault of the scenario, also for folders of Shallows.
faults: setup
	VELLUM_IMAGES=$${VELLUM_IMAGES:-all} VELLUM_FAULTS=$${VELLUM_FAULTS:-all} $(LONG) $(PLAIN) --filter 'ReliabilityTests|DiskPowerLoss|NthFailure' $(ARGUMENTS)

# Damages every byte, every length and every page of a small store. VELLUM_DAMAGE=1000 tries 1000 of each kind, VELLUM_PART=3/8 the third of
# eight parts.
damage: setup
	VELLUM_DAMAGE=$${VELLUM_DAMAGE:-all} $(LONG) -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter '^DamageTests' $(ARGUMENTS)

# Runs mixed operations of several processes against a model, for SECONDS.
soak: setup
	VELLUM_SOAK=$(SECONDS) $(LONG) $(PLAIN) --filter SoakTests $(ARGUMENTS)

# A million operations on every kind of cache and storage, whose memory must not grow. Alone in their process.
bounded: setup
	VELLUM_OPERATIONS=$${VELLUM_OPERATIONS:-1000000} VELLUM_TESTS=all $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz \
		--no-parallel --filter BoundedMemoryTests $(ARGUMENTS)

FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= files elements names longKeys keys cacheKeys values page cbor resp records times
# Runs libFuzzer on readers of untrusted bytes, FUZZ_SECONDS each; then compares random queries with indexes, without, and on an array, and tries
# extreme values in every column of a file.
fuzz: setup
	VELLUM_FUZZING=1 $(SWIFT) build --product Fuzz --traits Valkey --scratch-path .build/libfuzzer -Xswiftc -sanitize=fuzzer
	@sh Scripts/fuzz.sh .build/libfuzzer/debug/Fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)
	VELLUM_FUZZ=$${VELLUM_FUZZ:-500000} VELLUM_TESTS=all $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter DifferentialTests $(ARGUMENTS)
	VELLUM_DAMAGE=all VELLUM_TESTS=all $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter "extremeValuesAreHandledOrReported|HostileWordsTests" $(ARGUMENTS)

# Checks the format and the structure of the sources, and that what is final has not changed.
lint: frozen
	@python3 Scripts/check_structure.py
	@python3 Scripts/check_tests.py
	@python3 Scripts/defaults.py
	@python3 Scripts/layout.py
	@python3 Scripts/check_removals.py
	@python3 Scripts/mutations.py --check
	@python3 Scripts/weigh.py --limits Scripts/weights.txt
	@while IFS=: read -r module order; do \
		floors=$$(python3 Scripts/floors.py "Sources/$$module" "$$(echo $$order)") || { echo "$$module: $$floors"; exit 1; }; \
	done <Scripts/floors.txt
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Fuzzing Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Instructions Benchmarks/Shared Tools/Package.swift Tools/Sources Tools/Tests

# Formats the sources.
format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples Fuzzing Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Instructions Benchmarks/Shared Tools/Package.swift Tools/Sources Tools/Tests

# Counts the instructions of twenty-three works by callgrind, and the bytes of a client, beside those that are checked in. UPDATE=1 writes them anew.
instructions: setup
	@sh Scripts/setup.sh valgrind valgrind valgrind
	@$(SWIFT) build -c release --product Instructions
	@$(SWIFT) build -c release --product Client
	@python3 Scripts/client.py "$$($(SWIFT) build -c release --show-bin-path)/Client" $(if $(UPDATE),--update)
	@cc -shared -fPIC -O2 -o .build/slow_clock.so Benchmarks/slow_clock.c
	@python3 Scripts/instructions.py .build/slow_clock.so "$$($(SWIFT) build -c release --show-bin-path)/Instructions" $(if $(UPDATE),--update)

# Puts a process under real memory pressure, in a control group: Linux, as root.
pressure: setup
	$(SWIFT) build --product CrashChild $(PLAIN)
	@python3 Scripts/pressure.py "$$($(SWIFT) build $(PLAIN) --show-bin-path)/CrashChild"

# Counts the stack frames from a client to SQLite, by gdb, and fails where there are more than there may be. Builds for a minute,
# unless BUILT=1 says that `make test VALKEY=1 LINES=1` has.
spines: setup
	@sh Scripts/setup.sh gdb gdb gdb
	@python3 Scripts/spine.py $(if $(BUILT),--built .build/shared/debug) $(ARGUMENTS)

# Compares with alternative libraries, in one run. Takes several minutes.
bench: instructions
	@sh Scripts/setup.sh lmdb liblmdb-dev lmdb-devel || true
	@sh Benchmarks/run.sh $(ARGUMENTS)

# Builds the documentation in one archive: the guides, the products, and what they export again from other modules. Warnings are errors.
docs: setup $(if $(BUILT),,built)
	@SWIFT="$(SWIFT)" sh Scripts/docs.sh .build/shared/debug
	@echo "Look at it: python3 -m http.server --directory .build/documentation/Vellum.doccarchive 8000, then http://localhost:8000"

# The sources with the traits `Valkey` and `Metrics`, for documents and declarations. BUILT=1 says that `make test VALKEY=1` has built them.
built:
	$(SWIFT) build $(PLAIN) $(SHARED)

# Fails where a program that used the public API would no longer compile. UPDATE=1 writes down what is new, UPDATE=all every break, too.
api: setup $(if $(BUILT),,built)
	@SWIFT="$(SWIFT)" python3 Scripts/test_check_api.py
	@SWIFT="$(SWIFT)" python3 Scripts/check_api.py .build/shared/debug $(if $(UPDATE),$(if $(filter all,$(UPDATE)),--update-all,--update))

# Fails where fixtures, the layout of files or public names are not as they were when they became final. UPDATE=1 writes them down anew.
frozen:
	@python3 Scripts/check_frozen.py $(if $(UPDATE),--update)

# Runs a program of the state in which format 1 became final beside one of today, on one file. Builds both.
beside: setup
	@SWIFT="$(SWIFT)" sh Scripts/beside.sh

# Breaks each station at which a write is heard, one after the other: the tables of tests must notice. A build for each, some 40 minutes.
mutations:
	@SWIFT="$(SWIFT)" python3 Scripts/mutations.py $(ARGUMENTS)

# Prints figures of the sources: lines, files and public declarations, and how many files run for one record, access, load and query.
measure:
	@sh Scripts/measure.sh
	@sh Scripts/walks.sh
	@python3 Scripts/client.py --build $(if $(UPDATE),--update)
