import { decodeJson } from '../../../processors/decode-json.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Judge } from '../../contracts/reading.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { DomainError } from '../../core/errors.ts'
import { type Proposal, proposeStream } from '../../streams/data-streams/stream-proposal.ts'
import { Samples } from '../../streams/data-streams/stream-samples.ts'
import type { Sample, UnroutedTopic } from './unrouted-messages.ts'

interface ProposalNeeds {
  readonly judgeOf: (schema: StreamSchema) => Judge
  readonly nowUs: number
}

/** Characters of a payload that can be the value of one field. */
const valueLengthMax = 256

/**
 * What a stream of a topic could be defined as, by the messages that are kept of it.
 *
 * @throws DomainError `invalid_request`, saying why nothing can be proposed
 */
export function proposedStreamOf(found: UnroutedTopic, needs: ProposalNeeds): Proposal {
  const whole = found.samples.filter(({ bytes, length }) => length > 0 && bytes.length === length)
  if (whole.length === 0) {
    const message =
      'its messages are empty, or too long for one to be kept: define the stream by hand'
    throw unproposable(message)
  }
  const readings = whole.map(readingsOf)
  const objects = readings.flat().filter(isObject)
  const proposal =
    objects.length > 0 ? proposeStream(new Samples(readings.flat()), needs) : proposedValue(whole)
  const source = { ...proposal.proposal.source, topic: found.topic }
  return { ...proposal, proposal: { ...proposal.proposal, source } }
}

function readingsOf({ bytes }: Sample): readonly unknown[] {
  const decoded = decodeJson(Buffer.from(bytes))
  return decoded.ok ? decoded.readings : []
}

/** A topic whose payloads are the values of one field: `21.5`, `ON`. */
function proposedValue(samples: readonly Sample[]): Proposal {
  const texts = samples.map(({ bytes }) => valueIn(bytes))
  if (texts.some((text) => text === undefined)) {
    throw unproposable('its messages are neither JSON objects nor single values')
  }
  const type = texts.every((text) => isNumber(text ?? '')) ? 'number' : 'string'
  return {
    proposal: { type: 'iot_sensor', source: { format: 'plain' }, schema: { value: { type } } },
    samples: samples.length,
    notes: [],
    misfits: [],
  }
}

function valueIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).trim()
    const isValue = text !== '' && text.length <= valueLengthMax && !/[\p{Cc}[\]{}]/u.test(text)
    return isValue ? text : undefined
  } catch {
    return undefined
  }
}

function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
}

function unproposable(reason: string): DomainError {
  const message = `nothing can be proposed for the topic: ${reason}`
  return new DomainError('invalid_request', message, {
    details: [{ path: 'topic', message: reason }],
  })
}
