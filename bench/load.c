#define _GNU_SOURCE
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 16, ANSWER = 1 << 14, MOST = 1 << 22 };

typedef struct channel { /* a connection */
    int socket;
    bool busy, of_feedback;
    double due; /* of the request that is being answered */
    char event[40];
    char *request;
    size_t request_size, sent;
    char answer[ANSWER];
    size_t got;
} channel;

typedef struct state {
    const load_plan *about;
    load_result *out;
    channel *lines;
    float *latencies; /* (MOST) seconds */
    int poll;
    double begin, next; /* next: when a request is due, open loop */
    unsigned long long events;
    size_t decided;
} state;

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int connect_to(unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int one = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (made < 0 || connect(made, (struct sockaddr *)&address, sizeof address)) return -1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(made, F_SETFL, O_NONBLOCK);
    return made;
}

static void push(state *self, channel *line) {
    while (line->sent < line->request_size) {
        ssize_t part =
            send(line->socket, line->request + line->sent, line->request_size - line->sent, MSG_NOSIGNAL);
        if (part < 0 && errno == EAGAIN)
            break; /* loopback takes a request whole but under great load: epoll says when to go on */
        if (part < 0) {
            self->out->errors++;
            return;
        }
        line->sent += (size_t)part;
    }
    struct epoll_event event = {.events = line->sent < line->request_size ? EPOLLIN | EPOLLOUT : EPOLLIN,
                                .data.ptr = line};
    epoll_ctl(self->poll, EPOLL_CTL_MOD, line->socket, &event);
}

static void ask(state *self, channel *line, bool feedback, double due) {
    char body[ROOM / 2];
    const load_plan *about = self->about;
    if (!feedback)
        snprintf(line->event, sizeof line->event, "%016llx%016llx", self->events++,
                 (unsigned long long)(self->begin * 1e6));
    int size = snprintf(body, sizeof body, feedback ? about->feedback : about->body, line->event);
    line->request_size = (size_t)snprintf(line->request, ROOM,
                                          "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                                          "application/json\r\nContent-Length: %d\r\n\r\n%s",
                                          feedback ? about->feedback_path : about->path, size, body);
    line->busy = true;
    line->of_feedback = feedback;
    line->due = due;
    line->sent = line->got = 0;
    push(self, line);
}

/* Is the whole answer there? `*status` */
static bool is_whole(channel *line, int *status) {
    line->answer[line->got] = 0;
    char *end = strstr(line->answer, "\r\n\r\n");
    if (!end) return false;
    *status = atoi(line->answer + 9);
    char *length = strcasestr(line->answer, "\r\nContent-Length:");
    size_t size = length && length < end ? strtoull(length + 17, NULL, 10) : 0;
    return line->got >= (size_t)(end - line->answer) + 4 + size;
}

static void take_answer(state *self, channel *line, int status, double now) {
    const load_plan *about = self->about;
    line->busy = false;
    if (status / 100 != 2) self->out->errors++;
    if (line->of_feedback)
        self->out->feedbacks++;
    else {
        if (self->out->answers < MOST) self->latencies[self->out->answers++] = (float)(now - line->due);
        if (about->share && self->decided++ % about->share == 0) {
            ask(self, line, true, now);
            return;
        }
    }
    if (about->rate <= 0) ask(self, line, false, now);
}

static void receive(state *self, channel *line) {
    int status;
    ssize_t part = recv(line->socket, line->answer + line->got, ANSWER - 1 - line->got, 0);
    if (part <= 0) {
        if (part < 0 && errno == EAGAIN) return;
        self->out->errors++;
        close(line->socket);
        line->socket = -1;
        line->busy = true; /* of no use any longer */
        return;
    }
    line->got += (size_t)part;
    if (is_whole(line, &status)) take_answer(self, line, status, now_seconds());
}

/* Open loop: requests that are due go to connections that are free; where none is, they wait, and that
 * counts. */
static void send_due(state *self, double now) {
    for (size_t i = 0; i < self->about->connections && self->next <= now; i++) {
        if (self->lines[i].busy) continue;
        ask(self, &self->lines[i], false, self->next);
        self->next += 1 / self->about->rate;
    }
}

static void run(state *self) {
    struct epoll_event events[256];
    const load_plan *about = self->about;
    double now = now_seconds(), ticked = now;
    self->begin = self->next = now;
    if (about->rate <= 0)
        for (size_t i = 0; i < about->connections; i++) ask(self, &self->lines[i], false, now);
    while ((now = now_seconds()) < self->begin + about->seconds) {
        if (about->rate > 0) send_due(self, now);
        double wait = about->rate > 0 ? self->next - now : 0.1;
        int count = epoll_wait(self->poll, events, 256, wait > 0.001 ? (int)(wait * 1000) : 0);
        for (int i = 0; i < count; i++) {
            channel *each = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) push(self, each);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(self, each);
        }
        if (about->tick && now - ticked >= 1) {
            ticked += 1;
            about->tick(about->user, ticked - self->begin);
        }
    }
    self->out->seconds = now - self->begin;
}

static int by_size(const void *one, const void *other) {
    float a = *(const float *)one, b = *(const float *)other;
    return (a > b) - (a < b);
}

static bool begin(state *self) {
    self->lines = calloc(self->about->connections, sizeof *self->lines);
    self->latencies = malloc(MOST * sizeof *self->latencies);
    self->poll = epoll_create1(0);
    if (!self->lines || !self->latencies || self->poll < 0) return false;
    for (size_t i = 0; i < self->about->connections; i++) {
        channel *each = &self->lines[i];
        each->socket = connect_to(self->about->port);
        each->request = malloc(ROOM);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = each};
        if (each->socket < 0 || !each->request || epoll_ctl(self->poll, EPOLL_CTL_ADD, each->socket, &event))
            return false;
    }
    return true;
}

bool load_run(const load_plan *about, load_result *out) {
    state self = {.about = about, .out = out};
    *out = (load_result){0};
    bool good = begin(&self);
    if (good) {
        run(&self);
        qsort(self.latencies, out->answers, sizeof *self.latencies, by_size);
        if (out->answers) {
            out->p50 = self.latencies[out->answers / 2];
            out->p99 = self.latencies[out->answers * 99 / 100];
            out->worst = self.latencies[out->answers - 1];
        }
    }
    for (size_t i = 0; self.lines && i < about->connections; i++) {
        if (self.lines[i].socket > 0) close(self.lines[i].socket);
        free(self.lines[i].request);
    }
    if (self.poll >= 0) close(self.poll);
    free(self.lines);
    free(self.latencies);
    return good;
}
