import type { Socket as DatagramSocket } from 'node:dgram'
import type { Socket } from 'node:net'
import type { StreamId } from '../core/ids.ts'
import type { MessageOutcome, RawMessage } from './connector.ts'
import type { MessageContext } from './mapping.ts'
import type { SourcePosition } from './source-position.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Where the readings of a stream come from, as its owner has said, with all its secrets. Those with a name (`secrets`) stand
 * where `${name}` stood; who shows or keeps an address has to hide them.
 */
export interface SourceDefinition {
  readonly streamId: StreamId
  readonly source: Json
  /**
   * The stream has a mapping, which may read what is known of a message beside its bytes: headers are taken apart for
   * that only.
   */
  readonly isMapped?: boolean
}

/**
 * A connector that fetches is a value. To add one: its file, its line in `connectors/index.ts`, and a
 * test that runs the contract of `test/contracts/connector-contract.ts`.
 */
export interface FetchConnector {
  /** Whether a stream with this source gets its readings through this connector. */
  takes(source: Json): boolean
  /** Where it would connect to; undefined for what is on this machine, and no matter of addresses. */
  destinationOf(source: Json): { readonly host: string; readonly port: number } | undefined
  /**
   * Further destinations that a definition names: other members of a cluster, whoever gives the
   * tokens.
   */
  furtherDestinationsOf?(source: Json): readonly { readonly host: string; readonly port: number }[]
  /** Nothing is connected yet. What has to outlast a run is kept in what this returns. */
  open(definition: SourceDefinition): FetchedSource
  /**
   * Messages that a position holds because more of them may come: they are handed over as they are when the source of the
   * position is replaced. Of a position that another connector has written: none.
   *
   * @param timestampField the field that their time has to be in
   */
  waitingIn?(position: SourcePosition, timestampField: string): readonly FetchedMessage[]
  /**
   * A variant of the source for somebody who only tries it: it must not disturb one that is
   * running.
   */
  forTrial?(source: Json): Json
}

export interface FetchedSource {
  /**
   * What the other side knows us by, and what positions belong to: where it changes, the other side is told to
   * forget what it knew, and the source is read from its beginning.
   */
  readonly identity: string
  /**
   * Fetches until the signal is aborted, and then ends without an error; or until it fails. Whoever
   * runs it waits a while then, and runs it again. What was taken from the other side for good is handed over before it ends.
   *
   * @throws SourceRefused when somebody has to mend something first; any other Error when not
   */
  run(run: FetchRun): Promise<void>
  /** Has the other side forget us: the stream is gone, or gets its readings from elsewhere. */
  release?(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void>
}

/** A message as it was fetched. */
export interface FetchedMessage
  extends MessageContext,
    Pick<RawMessage, 'payload' | 'source' | 'receivedAtUs' | 'isOnlyTopic'> {
  /** Why it cannot be taken: it goes to the quarantine, with as much of it as there is. */
  readonly problem?: string
}

/** All that a run of a source may do. */
export interface FetchRun {
  /**
   * Takes what arrived, in its order. Resolved in the order of the calls, when it is durable: only
   * then the other side may be told, and awaiting it is the back-pressure. Rejected when it could
   * not be kept: the run ends, and the other side offers to a later one what it was not told of. It takes messages after the
   * signal, too, and offers them to the disk once.
   */
  readonly accept: (
    messages: readonly FetchedMessage[],
    /**
     * How far the source has been read with them: durable together with them, or not at all. There may be no
     * message. Undefined: it stays as it was.
     */
    position?: SourcePosition,
  ) => Promise<readonly MessageOutcome[]>
  /** That of the newest messages that are durable, in whichever run; undefined at the very first. */
  readonly position: SourcePosition | undefined
  /** To be called when the other side is reached, and will send or answer what there is. */
  readonly onRunning: () => void
  /** To be called when the other side has us wait before it lets us begin: the reason is shown until it does. */
  readonly onHeldUp: (reason: string) => void
  /** To be called when messages came that are left out on purpose; undefined: nobody counts them. */
  readonly onSkipped?: (messages: number) => void
  /** To be called when nothing is to be done until a time, or until somebody wants it: see `wish`. */
  readonly onWaiting: (nextRoundAtUs: number) => void
  /** To be called at the end of each round of a source that is asked from time to time. */
  readonly onRound: (round: SourceRound) => void
  readonly wish: RoundWish
  readonly nowUs: () => number
  /** The only way out: connects to what a user has named. */
  readonly dial: Dial
  readonly signal: AbortSignal
}

/** That somebody wants a round at once. Sources that run all the time need not know. */
export interface RoundWish {
  /** Whether somebody does. With this it is granted: all who want a round before it begins want the same one. */
  grant(): boolean
  /**
   * Calls when somebody does, at once where somebody already did, until what it returns is called. There is
   * one listener at a time, and none is kept longer than it listens.
   */
  listen(listener: () => void): () => void
}

/** A round that has ended well. */
export interface SourceRound {
  /** When it was due. */
  readonly dueAtUs: number
  readonly startedAtUs: number
  /** Times that have passed while a round was under way. */
  readonly overlapped: number
  /** Times that have passed while nobody could take care of them; this round stands for all of them. */
  readonly missed: number
}

/** Opens connections. @throws Error when one cannot be had, DomainError when it may not */
export interface Dial {
  (
    destination: DialedDestination & {
      /** Undefined: without TLS. */
      readonly tls?: DialedTls | undefined
    },
  ): Promise<Socket>
  /**
   * A socket of UDP that is connected to one address: datagrams of anybody else do not get through it. Nobody has
   * answered yet. Whoever asked for it closes it.
   */
  readonly datagrams: (destination: DialedDestination) => Promise<DatagramSocket>
}

interface DialedDestination {
  readonly host: string
  readonly port: number
  readonly signal: AbortSignal
}

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

/** The other side wants to be left alone for a while. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
