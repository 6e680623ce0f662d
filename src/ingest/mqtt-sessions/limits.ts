/** Sessions of one user that outlive their connection. */
export const sessionsPerUserMax = 10_000

/** Filters of one session. */
export const subscriptionsPerSessionMax = 1_000

/** Messages that wait in one session, and the bytes of their topics and payloads. */
export const queuedPerSessionMax = 10_000
export const queuedBytesPerSessionMax = 16 * 1024 * 1024

/** Retained messages of one user: how many, how large together, and how large each. */
export const retainedPerUserMax = 10_000
export const retainedBytesPerUserMax = 16 * 1024 * 1024
export const retainedPayloadBytesMax = 256 * 1024

/** Bytes of everything that waits or is retained, of all users: all of it is in memory, too. */
export const keptBytesMax = 256 * 1024 * 1024

/** Packet ids of QoS 2 that a session has received, and that its client has not released. */
export const receivedPerSessionMax = 1_000

/** A session that nobody uses for so long ends: MQTT 3.1.1 knows no end of its own. */
export const unusedUsMax = 30 * 24 * 60 * 60 * 1_000_000
