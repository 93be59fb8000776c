/* ranks_card.h - what ranks say while they find each other by TCP, byte by byte.
 *
 * A guest, who comes, and a door, which listens, greet each other with numbers that are used once.  The
 * guest then says who he is, his card, and proves that he has the secret of the job; the door answers with
 * a verdict, and proves the same.  Each proof covers all that was said on this connection and so is worth
 * nothing on another one.  Behind that rank 0 sends the cards of all.
 *
 * Requires: bytes from anybody.  Provides: a card whose every field is possible, or the reason why whoever
 * said this is sent away.  No function here touches a socket.
 */
#ifndef UNET_RANKS_CARD_H
#define UNET_RANKS_CARD_H

#include "ranks_secret.h"

enum {
    HOST_BYTES = 64,
    GREETING_BYTES = 8 + 4 + SECRET_BYTES,
    CARD_BYTES = 3 * 4 + HOST_BYTES,
    CALL_BYTES = CARD_BYTES + SECRET_BYTES, /* what a guest says behind his greeting, */
    ANSWER_BYTES = 4 + SECRET_BYTES         /*   and what the door answers */
};

/* The address of a rank. */
typedef struct {
    int32_t rank, size;
    uint16_t port;
    char host[HOST_BYTES]; /* numbers and no name; "": not known yet */
} Card;

typedef enum {
    VERDICT_WELCOME,
    VERDICT_STRANGE,   /* no greeting, or a card that cannot be */
    VERDICT_ONE_SIDED, /* one side has a secret and the other has none */
    VERDICT_UNPROVED,  /* another secret */
    VERDICT_SIZE,      /* of a job of other size */
    VERDICT_TAKEN,     /* its rank is there already, or does not come to this door */
    VERDICT_USER,      /* of another user of this machine, in a job without a secret */
    VERDICT_SILENT,    /* the connection ended, or the time, before all was said */
    VERDICTS
} Verdict;

/* The texts on one connection to the door of rank DOOR. */
typedef struct {
    uint8_t guest[GREETING_BYTES], host[GREETING_BYTES], card[CARD_BYTES];
    int32_t door;
} Talk;

void card_greet(const Secret *secret, uint8_t greeting[GREETING_BYTES]);
Verdict card_judge_greeting(const Secret *secret, const uint8_t greeting[GREETING_BYTES]);

/* RANK is one of SIZE, the port is one, and the host is a text that ends. */
void card_write(const Card *card, uint8_t bytes[CARD_BYTES]);
bool card_read(Card *card, const uint8_t bytes[CARD_BYTES]);

/* The guest's: CARD goes into TALK, and with its proof to CALL.  The door's: whether who has called so is
 * one of SIZE ranks and comes to this door; CARD is his then. */
void card_call(const Secret *secret, Talk *talk, const Card *card, uint8_t call[CALL_BYTES]);
Verdict card_judge_call(const Secret *secret, Talk *talk, int32_t size, const uint8_t call[CALL_BYTES],
                        Card *card);

/* The door's, and what the guest makes of it. */
void card_answer(const Secret *secret, const Talk *talk, Verdict verdict, uint8_t answer[ANSWER_BYTES]);
Verdict card_judge_answer(const Secret *secret, const Talk *talk, const uint8_t answer[ANSWER_BYTES]);

/* The cards of all of CARD[0..SIZE), as rank 0 sends them: false where one cannot be. */
bool card_read_all(Card *card, int32_t size, const uint8_t *bytes);

/* Why a guest is sent away: "it knows another secret than ..." */
const char *card_reason(Verdict verdict);

#endif
