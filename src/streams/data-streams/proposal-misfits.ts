import { decoderOf } from '../../../processors/decode.ts'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import type { DecodedMessage, RefusedReading } from '../../contracts/reading.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import { formatOf, schemaOf } from './definition.ts'
import { formatOptionsOf } from './payload-format.ts'
import type { Draft, ProposalNeeds } from './proposal-draft.ts'
import type { SampledMessage, Samples } from './stream-samples.ts'
import { currentRules } from './time-rules.ts'

/** A sample that the stream would refuse, and why. */
export interface Misfit {
  readonly index: number
  readonly error: string
  readonly message: string
  /** What to do about it, as a sentence. */
  readonly remedy: string
  readonly details: readonly ErrorDetail[]
}

/** How far ahead of the server the time of a reading may be (decisions.md#times-of-readings). */
const futureToleranceUs = 5 * 60 * 1_000_000

/** Readings of one message that are named: each may be refused for another reason. */
const readingsNamedMax = 10

/** What a stream of this definition would refuse of the samples: they go the way that messages go. */
export function misfitsOf(
  samples: Samples,
  { source, schema }: Pick<Draft, 'source' | 'schema'>,
  { judgeOf, nowUs }: ProposalNeeds,
): readonly Misfit[] {
  const version = { source, schema, processing: {}, rules: currentRules }
  const compiled = schemaOf(version)
  const decode = decoderOf(formatOf(version), {
    schema: compiled,
    formatOptions: formatOptionsOf(source),
  })
  const map = mapperOf(compiled)
  const judge = judgeOf(compiled)
  const refused = samples.messages.flatMap((message): readonly Misfit[] => {
    const read = message.payload === undefined ? asDecoded(message) : decode(message.payload)
    const decoded =
      read.ok && read.readingsAt ? { ...read, readings: read.readingsAt(nowUs) } : read
    const { index } = message
    if (!decoded.ok) return [malformed(index, decoded.problem)]
    const mapped = map?.(decoded, message.context) ?? decoded
    const found = mapped.readings.flatMap((reading, at): readonly Misfit[] => {
      const problem = mapped.unreadable?.get(at)
      if (problem !== undefined) return [malformed(index, problem)]
      const receipt = { receivedAtUs: nowUs, futureToleranceUs }
      const verdict = mapped.refused?.get(at) ?? judge(reading, receipt)
      return verdict.accepted ? [] : [misfit(index, verdict)]
    })
    return found.slice(0, readingsNamedMax)
  })
  const unreadable = [...samples.unreadable].map(([index, problem]) => malformed(index, problem))
  return [...unreadable, ...refused].toSorted((left, right) => left.index - right.index)
}

function asDecoded({ readings, isBatch }: SampledMessage): DecodedMessage {
  return { ok: true, readings, isBatch, format: 'json' }
}

function misfit(index: number, { reason, message, details }: RefusedReading): Misfit {
  return { index, error: reason, message, remedy: refusalRemedy(reason), details }
}

function malformed(index: number, message: string): Misfit {
  return { index, error: 'malformed', message, remedy: refusalRemedy('malformed'), details: [] }
}
