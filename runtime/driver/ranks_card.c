/* ranks_card.c - what ranks say while they find each other by TCP (ranks_card.h).  Numbers are unsigned, of
 * 32 bits, the lowest byte first. */
#include "ranks_card.h"

#include <string.h>

static const uint8_t hello[8] = "unranks2";

enum { LABEL_BYTES = 16 };

typedef struct {
    uint8_t label[LABEL_BYTES];
    uint8_t guest[GREETING_BYTES], host[GREETING_BYTES], card[CARD_BYTES];
    uint8_t door[4], verdict[4];
} Proved;
_Static_assert(sizeof(Proved) == LABEL_BYTES + 2 * GREETING_BYTES + CARD_BYTES + 8, "bytes alone");

static void put_number(uint8_t bytes[4], uint32_t number) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

static uint32_t number_at(const uint8_t bytes[4]) {
    uint32_t number = 0;
    for (int i = 0; i < 4; i++)
        number |= (uint32_t)bytes[i] << (8 * i);
    return number;
}

/* The text that a side proves, as the LABEL says. */
static Proved what_is_proved(const Talk *talk, const char *label, uint32_t verdict) {
    Proved text = {.label = {0}};
    memcpy(text.label, label, strnlen(label, LABEL_BYTES));
    memcpy(text.guest, talk->guest, sizeof text.guest);
    memcpy(text.host, talk->host, sizeof text.host);
    memcpy(text.card, talk->card, sizeof text.card);
    put_number(text.door, (uint32_t)talk->door);
    put_number(text.verdict, verdict);
    return text;
}

static Proved guest_proves(const Talk *talk) {
    return what_is_proved(talk, "unet guest", 0);
}

static Proved door_proves(const Talk *talk, uint32_t verdict) {
    return what_is_proved(talk, "unet door", verdict);
}

/* ---- greetings ---- */

void card_greet(const Secret *secret, uint8_t greeting[GREETING_BYTES]) {
    memcpy(greeting, hello, sizeof hello);
    put_number(greeting + sizeof hello, secret->given);
    secret_draw(secret, greeting + sizeof hello + 4, SECRET_BYTES);
}

Verdict card_judge_greeting(const Secret *secret, const uint8_t greeting[GREETING_BYTES]) {
    const uint32_t given = number_at(greeting + sizeof hello);
    if (memcmp(greeting, hello, sizeof hello) != 0 || given > 1)
        return VERDICT_STRANGE;
    return given == secret->given ? VERDICT_WELCOME : VERDICT_ONE_SIDED;
}

/* ---- cards ---- */

void card_write(const Card *card, uint8_t bytes[CARD_BYTES]) {
    put_number(bytes, (uint32_t)card->rank);
    put_number(bytes + 4, (uint32_t)card->size);
    put_number(bytes + 8, card->port);
    memcpy(bytes + 12, card->host, HOST_BYTES);
}

/* Numbers of IPv4 or IPv6, and, behind a %, the name of an interface. */
static bool is_host(const uint8_t text[HOST_BYTES]) {
    static const char letters[] = "0123456789abcdefABCDEF.:";
    const char *host = (const char *)text;
    const size_t length = strnlen(host, HOST_BYTES);
    if (length == HOST_BYTES)
        return false;
    const size_t numbers = strspn(host, letters);
    if (numbers < length && host[numbers] != '%')
        return false;
    for (size_t i = numbers; i < length; i++)
        if (host[i] <= ' ' || host[i] > '~')
            return false;
    return true;
}

bool card_read(Card *card, const uint8_t bytes[CARD_BYTES]) {
    const uint32_t rank = number_at(bytes), size = number_at(bytes + 4), port = number_at(bytes + 8);
    if (size > INT32_MAX || rank >= size || port < 1 || port > UINT16_MAX || !is_host(bytes + 12))
        return false;
    *card = (Card){.rank = (int32_t)rank, .size = (int32_t)size, .port = (uint16_t)port};
    memcpy(card->host, bytes + 12, HOST_BYTES);
    return true;
}

bool card_read_all(Card *card, int32_t size, const uint8_t *bytes) {
    for (int32_t r = 0; r < size; r++)
        if (!card_read(&card[r], bytes + (size_t)r * CARD_BYTES) || card[r].rank != r ||
            card[r].size != size || (r > 0 && card[r].host[0] == '\0'))
            return false;
    return true;
}

/* ---- who calls, and the answer ---- */

void card_call(const Secret *secret, Talk *talk, const Card *card, uint8_t call[CALL_BYTES]) {
    card_write(card, talk->card);
    const Proved text = guest_proves(talk);
    memcpy(call, talk->card, CARD_BYTES);
    secret_prove(secret, &text, sizeof text, call + CARD_BYTES);
}

Verdict card_judge_call(const Secret *secret, Talk *talk, int32_t size, const uint8_t call[CALL_BYTES],
                        Card *card) {
    memcpy(talk->card, call, CARD_BYTES);
    const Proved text = guest_proves(talk);
    if (!secret_is_proved(secret, &text, sizeof text, call + CARD_BYTES))
        return VERDICT_UNPROVED;
    if (!card_read(card, call))
        return VERDICT_STRANGE;
    if (card->size != size)
        return VERDICT_SIZE;
    return card->rank > talk->door ? VERDICT_WELCOME : VERDICT_TAKEN;
}

void card_answer(const Secret *secret, const Talk *talk, Verdict verdict, uint8_t answer[ANSWER_BYTES]) {
    const Proved text = door_proves(talk, (uint32_t)verdict);
    put_number(answer, (uint32_t)verdict);
    secret_prove(secret, &text, sizeof text, answer + 4);
}

/* Who is sent away has lost nothing, whoever said it; who is welcome knows by whom. */
Verdict card_judge_answer(const Secret *secret, const Talk *talk, const uint8_t answer[ANSWER_BYTES]) {
    const uint32_t verdict = number_at(answer);
    const Proved text = door_proves(talk, verdict);
    if (verdict >= VERDICTS)
        return VERDICT_STRANGE;
    if (verdict == VERDICT_WELCOME && !secret_is_proved(secret, &text, sizeof text, answer + 4))
        return VERDICT_UNPROVED;
    return (Verdict)verdict;
}

const char *card_reason(Verdict verdict) {
    static const char *const reason[VERDICTS] = {
        [VERDICT_WELCOME] = "it was welcome",
        [VERDICT_STRANGE] = "it does not speak as ranks of this program do: another program uses this "
                            "port, or another version of this one; UNET_PORT sets another port",
        [VERDICT_ONE_SIDED] = "one side has a secret and the other has none: set UNET_JOB_SECRET, or "
                              "UNET_JOB_SECRET_FILE, for all ranks",
        [VERDICT_UNPROVED] = "it has another secret: UNET_JOB_SECRET, or the text in UNET_JOB_SECRET_FILE, "
                             "and TORCHELASTIC_RUN_ID must be the same for all ranks",
        [VERDICT_SIZE] = "it counts another number of ranks: WORLD_SIZE must be the same for all",
        [VERDICT_TAKEN] = "the same rank was there before: RANK must differ for all",
        [VERDICT_USER] = "it is another user's, as far as the system says: set UNET_JOB_SECRET, or "
                         "UNET_JOB_SECRET_FILE, for all ranks",
        [VERDICT_SILENT] = "it did not say who it is",
    };
    return reason[verdict];
}
