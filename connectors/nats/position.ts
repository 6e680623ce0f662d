import type { SourcePosition } from '../../src/contracts/source-position.ts'

/** How far a stream of JetStream has been read. */
export interface NatsPosition {
  /** When the stream was made: sequences of another one of the same name mean something else. */
  readonly created: string
  /** Sequence of the newest message which is durable here; 0 for none. */
  readonly sequence: number
}

export function readPosition(position: SourcePosition | undefined): NatsPosition | undefined {
  return position as unknown as NatsPosition | undefined
}

export function writePosition({ created, sequence }: NatsPosition): SourcePosition {
  return { created, sequence }
}
