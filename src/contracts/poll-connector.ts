import type { Dial, FetchedMessage, SourceDefinition } from './fetch-connector.ts'
import type { SourcePosition } from './source-position.ts'

type Json = Readonly<Record<string, unknown>>

/** What one request or one query has brought. */
export interface FetchedPage {
  readonly messages: readonly FetchedMessage[]
  /** Where to go on behind it; undefined where it stays as it was. */
  readonly position: SourcePosition | undefined
}

/** What one round may do. */
export interface Poll {
  /** That of the last page that became durable, in this round or one before it; undefined at the very first. */
  readonly position: SourcePosition | undefined
  /** The only way out: connects to what a user has named. */
  readonly dial: Dial
  readonly signal: AbortSignal
  readonly nowUs: () => number
}

/** A source that has to be asked from time to time. */
export interface PolledSource {
  /** What a position belongs to: where it changes, the source is read from its beginning. */
  readonly identity: string
  /**
   * Asks once for all that is there, page by page. The next page is asked for when the one before is
   * durable, which is the back-pressure; whoever stops asking ends the round.
   *
   * @throws SourceRefused when somebody has to mend something first; any other Error when not
   */
  poll(poll: Poll): AsyncIterable<FetchedPage>
}

/**
 * A connector that asks is a value. Schedules, positions, repetitions after failures and state are no concern of
 * its own.
 */
export interface PollConnector {
  /** Whether a stream with this source gets its readings through this connector. */
  takes(source: Json): boolean
  /** Where it would connect to; undefined for what is on this machine, and no matter of addresses. */
  destinationOf(source: Json): { readonly host: string; readonly port: number } | undefined
  /**
   * Further destinations that a definition names: other members of a cluster, whoever gives the
   * tokens.
   */
  furtherDestinationsOf?(source: Json): readonly { readonly host: string; readonly port: number }[]
  /** Nothing is connected yet. */
  open(definition: SourceDefinition): PolledSource
}
