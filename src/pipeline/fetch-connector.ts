import type { Socket } from 'node:net'
import type { StreamId } from '../core/ids.ts'
import type { MessageOutcome, RawMessage } from './connector.ts'

type Json = Readonly<Record<string, unknown>>

/** Where the readings of a stream come from, as its owner has said, with all its secrets. */
export interface SourceDefinition {
  readonly streamId: StreamId
  readonly source: Json
}

/**
 * A connector that fetches is a value. To add one: its file, its line in `connectors/index.ts`, and a
 * test that runs the contract of `test/contracts/connector-contract.ts`.
 */
export interface FetchConnector {
  /** Whether a stream with this source gets its readings through this connector. */
  takes(source: Json): boolean
  /** Where it would connect to. */
  destinationOf(source: Json): { readonly host: string; readonly port: number }
  /** Nothing is connected yet. What has to outlast a run is kept in what this returns. */
  open(definition: SourceDefinition): FetchedSource
}

export interface FetchedSource {
  /** What the other side knows us by: where it changes, it is told to forget what it knew. */
  readonly identity: string
  /**
   * Fetches until the signal is aborted, and then ends without an error; or until it fails. Whoever
   * runs it waits a while then, and runs it again.
   *
   * @throws SourceRefused when somebody has to mend something first; any other Error when not
   */
  run(run: FetchRun): Promise<void>
  /** Has the other side forget us: the stream is gone, or gets its readings from elsewhere. */
  release?(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void>
}

/** A message as it was fetched. */
export interface FetchedMessage
  extends Pick<RawMessage, 'payload' | 'source' | 'receivedAtUs' | 'topic'> {
  /** Why it cannot be taken: it goes to the quarantine, with as much of it as there is. */
  readonly problem?: string
}

/** All that a run of a source may do. */
export interface FetchRun {
  /**
   * Takes what arrived, in its order. Resolved in the order of the calls, when it is durable: only
   * then the other side may be told, and awaiting it is the back-pressure. Rejected when it could
   * not be kept: the run ends, and the other side offers to a later one what it was not told of.
   */
  readonly accept: (messages: readonly FetchedMessage[]) => Promise<readonly MessageOutcome[]>
  /** To be called when the other side is reached, and will send or answer what there is. */
  readonly onRunning: () => void
  /** The only way out: connects to what a user has named. */
  readonly dial: Dial
  readonly signal: AbortSignal
}

/** Opens a connection. @throws Error when it cannot be had, DomainError when it may not */
export type Dial = (destination: {
  readonly host: string
  readonly port: number
  /** Undefined: without TLS. */
  readonly tls?: DialedTls | undefined
  readonly signal: AbortSignal
}) => Promise<Socket>

/** PEM, all of it. Who answers is checked in any case. */
export interface DialedTls {
  /** Whom to trust; undefined: the usual authorities. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** Whom to expect, where that is not the host. */
  readonly servername?: string | undefined
}

/** The other side refuses us for a reason that somebody has to mend. */
export class SourceRefused extends Error {
  override readonly name = 'SourceRefused'
}
