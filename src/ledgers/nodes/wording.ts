/** How long a node may take to answer what it is asked in one go. */
export interface Patience {
  readonly timeoutMs: number
  /** Ends it before. */
  readonly signal?: AbortSignal
}

/** For whoever says nothing else. */
export const usualPatience: Patience = { timeoutMs: 10_000 }

/** A way to one node. */
export interface NodeConnection<Call, Answer> {
  /**
   * Asks for several things at once. Resolves with an answer to each, in order.
   *
   * @throws LedgerUnreachable in words of our own: those of others may show the address, which may hold a token
   */
  ask(calls: readonly Call[], patience?: Patience): Promise<readonly Answer[]>
  close(): void
}

/** What a node sends: an object of JSON. */
export type Message = Readonly<Record<string, unknown>>

/** What is sent over HTTP in one request, for some calls. */
export interface Posted<Answer> {
  readonly body: object
  /** Answers to these calls, in order. @throws LedgerUnreachable where one is missing */
  readonly answersIn: (said: unknown) => readonly Answer[]
}

/** How a network words what it is asked, and what it answers. */
export interface Wording<Call, Answer> {
  /** Bytes of one answer at most. */
  readonly answerBytesMax: number
  posted(calls: readonly Call[]): readonly Posted<Answer>[]
  /** What is sent over a WebSocket for one call: the answer has the same `id`. */
  message(call: Call, id: number): Message
  /** @throws LedgerUnreachable where it is neither a result nor an error */
  answerOf(message: Message): Answer
}
