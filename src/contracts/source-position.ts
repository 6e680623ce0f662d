/**
 * How far a source has been read: whatever the next round needs to go on, as JSON. It is kept in the journal
 * together with the messages that it stands behind: both are durable, or neither.
 */
export type SourcePosition = Readonly<Record<string, unknown>>
