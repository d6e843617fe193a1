/* What environments over files of data share. */
#ifndef SA_ENV_DATA_FILE_H
#define SA_ENV_DATA_FILE_H

#include "env/environment.h"

/* The file of --data; caller frees the text. */
sa_status sa_data_read(const sa_options *options, char **text, size_t *size);
/* SA_INVALID when an option was given another value than what the file has: `whose` "rows have", say. */
sa_status sa_data_check_size(const sa_options *options, const char *option, int64_t asked, const char *whose,
                             size_t has);
/* Gaussian noise is added only where --noise was given: labels and grades are what they are, and clicks are
 * noise enough. */
double sa_data_noise(const sa_options *options);
/* Room for as many whole numbers as the round has arms, in the memory of its noise: until the noise is
 * drawn. */
static inline uint64_t *sa_data_scratch(sa_round *round) {
    _Static_assert(sizeof(uint64_t) == sizeof *round->noise, "a whole number takes the room of a double");
    return (void *)round->noise;
}

/* contexts (rows, dim): every row is divided by its length; a row of zeros stays. */
void sa_data_unit_rows(size_t rows, size_t dim, double *contexts);

enum { SA_LARGEST_GRADE = 4 };

/* What a user does with a document of each grade: chooses it with probability `click` when looking at it, and
 * then looks no further with probability `stop`. */
typedef struct sa_data_user {
    double click[SA_LARGEST_GRADE + 1], stop[SA_LARGEST_GRADE + 1];
} sa_data_user;

/* The --user for files whose largest grade is this. */
const sa_data_user *sa_data_user_of(const sa_options *options, int largest_grade);
/* noise (arms): each arm is chosen, score 1, with its expected score as probability, else 0; the noise is
 * what that differs, and the environment's Gaussian noise. */
void sa_data_choice_noise(const sa_environment *environment, uint64_t seed, uint64_t run, uint64_t round,
                          size_t arms, const double *expected, double *noise);

#endif
