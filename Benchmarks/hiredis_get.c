// Reads a key again and again with hiredis, synchronously, and prints the nanoseconds of each read.
//
//     hiredis_get PORT KEY COUNT

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    redisContext *context = redisConnect("127.0.0.1", atoi(arguments[1]));
    if (context == NULL || context->err) return 1;
    for (int number = -100; number < atoi(arguments[3]); number++) {
        long long start = now();
        redisReply *reply = redisCommand(context, "GET %s", arguments[2]);
        if (reply == NULL || reply->type != REDIS_REPLY_STRING) return 1;
        freeReplyObject(reply);
        // The first hundred warm the connection up.
        if (number >= 0) printf("%lld\n", now() - start);
    }
    redisFree(context);
    return 0;
}
