/// Scripts that the server executes in one step for an entry, in Lua
/// (redis.io/docs/latest/develop/programmability/eval-intro). `KEYS[1]` is the key of the value,
/// `KEYS[2]` that of the lease. All commands are of Redis 6.2 or older.
enum Scripts {
    /// Arguments: the bytes, and their lifetime in milliseconds; 0 for no end.
    static let put = """
        if ARGV[2] == '0' then redis.call('SET', KEYS[1], ARGV[1])
        else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
        redis.call('DEL', KEYS[2])
        return 1
        """

    /// Arguments: as ``put``, then the header of an entry that does not count. Returns 0 if there
    /// is a valid entry that has a value, 2 if it is in groups: the first bytes of an entry say so,
    /// and the nineteenth begins the end of its age (``RemoteRecord``). Its checksum is not looked
    /// at: one that is damaged counts as one that is there.
    static let putIfAbsent = """
        local entry = redis.call('GETRANGE', KEYS[1], 0, 29)
        if #entry >= 30 and entry:byte(1) == 1 and (entry:byte(2) == 0 or entry:byte(2) == 2) and \
        entry ~= ARGV[3] then
          local time = redis.call('TIME')
          if struct.unpack('<i8', entry, 19) > time[1] * 1000 + math.floor(time[2] / 1000) then \
        return entry:byte(2) end
        end
        \(put)
        """

    /// The keys are those of values, each followed by that of its lease. Who has asked for a value
    /// is told that it was removed, also if there was none: whoever loads it is overtaken. On a
    /// server without memory the lease alone ends.
    static let drop = """
        for i = 1, #KEYS, 2 do
          redis.call('UNLINK', KEYS[i + 1])
          if redis.call('UNLINK', KEYS[i]) == 0 then
            redis.pcall('SET', KEYS[i], '')
            redis.call('UNLINK', KEYS[i])
          end
        end
        return 1
        """

    /// The keys are those of epochs. Returns them; one that is missing or invalid is not eight
    /// bytes. Arguments, to make those: eight bytes, for how many milliseconds all must last, and
    /// for how many those do that do not; 0 for no end. With the first read the server begins to
    /// tell the caller of changes of all keys: what it makes itself comes before. That one lasts
    /// longer is told to all who have read it, and is rare.
    static let epochs = """
        local epochs, isNew = {}, {}
        for i, key in ipairs(ARGV[1] and KEYS or {}) do
          isNew[i] = redis.call('SET', key, ARGV[1], 'NX')
          if isNew[i] and ARGV[2] ~= '0' then redis.call('PEXPIRE', key, ARGV[3]) end
        end
        for i, key in ipairs(KEYS) do
          local rest = ARGV[1] and not isNew[i] and redis.call('PTTL', key) or -1
          if rest >= 0 and ARGV[2] == '0' then redis.call('PERSIST', key)
          elseif rest >= 0 and rest < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[3]) end
          epochs[i] = redis.pcall('GETRANGE', key, 0, 8)
          if #epochs[i] ~= 8 then
            epochs[i] = ARGV[1] or ''
            if ARGV[1] then redis.call('SET', key, ARGV[1], 'KEEPTTL') end
          end
        end
        return epochs
        """

    /// The keys are those of epochs. Argument: another one. A server without memory has none then,
    /// which removes the group, too.
    static let removeGroups = """
        for i, key in ipairs(KEYS) do
          local set = redis.pcall('SET', key, ARGV[1], 'XX', 'KEEPTTL')
          if set and set.err then redis.call('UNLINK', key) end
        end
        return 1
        """

    /// The keys are those of the values. Argument: how many bytes an entry may have, and all
    /// together. Returns the entries; one is empty if it is missing, and null if there was no room
    /// for it. There always is for the first, and a byte more.
    static let entries = """
        local entries, left = {}, tonumber(ARGV[1])
        for i = 1, #KEYS do
          if left > 0 then
            entries[i] = redis.call('GETRANGE', KEYS[i], 0, ARGV[1])
            left = left - #entries[i]
          else
            entries[i] = false
          end
        end
        return entries
        """

    /// Arguments: as ``put``, then the token. Returns 0 if the lease was lost.
    static let fill = """
        if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end
        \(put)
        """

    /// Arguments: the header of an entry, its lifetime as in ``put``, the token, and the length of
    /// the entry. While the lease lasts nobody has put another value. Returns 0 if the lease was
    /// lost, or the entry is gone.
    static let renewEntry = """
        if redis.call('GET', KEYS[2]) ~= ARGV[3] or redis.call('STRLEN', KEYS[1]) ~= \
        tonumber(ARGV[4]) then return 0 end
        redis.call('SETRANGE', KEYS[1], 0, ARGV[1])
        if ARGV[2] == '0' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], \
        ARGV[2]) end
        redis.call('DEL', KEYS[2])
        return 1
        """

    /// Arguments: the token, the duration of the lease in milliseconds, 1 if the entry counts as
    /// missing, and how many bytes it may have. Returns 0 and a valid entry; 1, the rest of
    /// another's lease and the entry; or 2 and the entry. It is empty if it is missing, and a byte
    /// if it is larger. The nineteenth byte begins the end of an entry's age (``RemoteRecord``).
    static let entryOrLease = """
        local entry = redis.call('GETRANGE', KEYS[1], 0, ARGV[4])
        if #entry > tonumber(ARGV[4]) then entry = 'x' end
        if #entry >= 30 and ARGV[3] ~= '1' then
          local time = redis.call('TIME')
          if struct.unpack('<i8', entry, 19) > time[1] * 1000 + math.floor(time[2] / 1000) then \
        return {0, entry} end
        end
        local rest = redis.call('PTTL', KEYS[2])
        if rest > 0 then return {1, rest, entry} end
        redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
        return {2, entry}
        """

    /// Arguments: the token and the duration in milliseconds.
    static let renew = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        """

    /// Argument: the token.
    static let giveBack = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """
}
