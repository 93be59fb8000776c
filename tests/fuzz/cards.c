/* cards.c - fuzzes what ranks say while they find each other by TCP.  The first byte says whether the job
 * has a secret (its lowest bit), and who hears the rest: a door, a guest, or a rank that is told where the
 * others are.
 *
 * Who has not the secret is never welcome, whatever he says; without a secret, a card that is taken has
 * possible fields, and is written again as it was read.  Whoever is sent away is told why. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "ranks_card.h"

enum { RANKS = 3 };

static void check(bool condition) {
    if (!condition)
        abort();
}

/* The next COUNT bytes, zeros behind the last. */
static void take(const uint8_t **data, size_t *size, uint8_t *bytes, size_t count) {
    const size_t there = *size < count ? *size : count;
    memset(bytes, 0, count);
    if (there > 0)
        memcpy(bytes, *data, there);
    *data += there;
    *size -= there;
}

static void check_card(const Card *card, const uint8_t bytes[CARD_BYTES]) {
    uint8_t again[CARD_BYTES];
    check(card->rank >= 0 && card->rank < card->size && card->port > 0);
    check(memchr(card->host, '\0', sizeof card->host) != NULL);
    card_write(card, again);
    check(memcmp(again, bytes, CARD_BYTES) == 0);
}

static void check_refusal(Verdict verdict) {
    check(verdict < VERDICTS && card_reason(verdict) != NULL);
}

static void at_door(const Secret *secret, const uint8_t *data, size_t size) {
    Talk talk = {.door = 0};
    Card card;
    uint8_t call[CALL_BYTES], answer[ANSWER_BYTES];
    card_greet(secret, talk.host);
    take(&data, &size, talk.guest, sizeof talk.guest);
    Verdict verdict = card_judge_greeting(secret, talk.guest);
    check_refusal(verdict);
    if (verdict != VERDICT_WELCOME)
        return;
    take(&data, &size, call, sizeof call);
    verdict = card_judge_call(secret, &talk, RANKS, call, &card);
    check_refusal(verdict);
    check(verdict != VERDICT_WELCOME || !secret->given);
    if (verdict == VERDICT_WELCOME) {
        check_card(&card, call);
        check(card.rank > 0 && card.size == RANKS);
    }
    card_answer(secret, &talk, verdict, answer);
    check(card_judge_answer(secret, &talk, answer) == verdict);
}

static void at_guest(const Secret *secret, const uint8_t *data, size_t size) {
    static const Card mine = {.rank = 1, .size = RANKS, .port = 29500};
    Talk talk = {.door = 0};
    Card card;
    uint8_t call[CALL_BYTES], answer[ANSWER_BYTES];
    card_greet(secret, talk.guest);
    take(&data, &size, talk.host, sizeof talk.host);
    Verdict verdict = card_judge_greeting(secret, talk.host);
    check_refusal(verdict);
    if (verdict != VERDICT_WELCOME)
        return;
    card_call(secret, &talk, &mine, call);
    take(&data, &size, answer, sizeof answer);
    verdict = card_judge_answer(secret, &talk, answer);
    check_refusal(verdict);
    check(verdict != VERDICT_WELCOME || !secret->given);
    check(card_judge_call(secret, &talk, RANKS, call, &card) == VERDICT_WELCOME); /* of a right door */
}

static void told_of_all(const uint8_t *data, size_t size) {
    uint8_t bytes[RANKS * CARD_BYTES];
    Card card[RANKS];
    take(&data, &size, bytes, sizeof bytes);
    if (!card_read_all(card, RANKS, bytes))
        return;
    for (int32_t r = 0; r < RANKS; r++) {
        check_card(&card[r], bytes + (size_t)r * CARD_BYTES);
        check(card[r].rank == r && (r == 0 || card[r].host[0] != '\0'));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Secret none = {.given = false};
    Secret secret;
    UnetError error;
    if (size == 0)
        return 0;
    setenv("UNET_JOB_SECRET", "a secret of this target", 1);
    if (data[0] % 2 == 0 || secret_find(&secret, &error) != UNET_OK) /* without libsodium there is none */
        secret = none;
    switch (data[0] / 2 % 3) {
    case 0:
        at_door(&secret, data + 1, size - 1);
        break;
    case 1:
        at_guest(&secret, data + 1, size - 1);
        break;
    default:
        told_of_all(data + 1, size - 1);
    }
    return 0;
}
