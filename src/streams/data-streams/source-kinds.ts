import { sourceKinds } from '../../../connectors/sources.ts'
import type { Json } from '../../contracts/definitions/problems.ts'
import {
  type InboundRules,
  isOfKind,
  type SourceFamily,
  type SourceKind,
} from '../../contracts/definitions/source-kind.ts'
import { type StreamType, streamTypes } from './stream-type.ts'

/** The types that name a domain take whatever their protocol takes (decisions.md#definitions). */
const ofDomains: readonly SourceFamily[] = ['device', 'database', 'events', 'machine']

const familiesOf: Readonly<Record<StreamType, readonly SourceFamily[]>> = {
  iot_sensor: ['device'],
  api_pull: ['api'],
  event_stream: ['events'],
  database: ['database'],
  manufacturing: ofDomains,
  building_systems: ofDomains,
  occupancy: ofDomains,
  service: [],
}

/** The kinds of sources that a stream of a type can have. */
function kindsOf(type: StreamType): readonly SourceKind[] {
  return familiesOf[type].flatMap((family) => sourceKinds.filter((kind) => kind.family === family))
}

/** The kind of a source; undefined where it is not said, and there is no usual one. */
export function kindOf(type: StreamType, source: Json): SourceKind | undefined {
  const kinds = kindsOf(type)
  return kinds.find((kind) => isOfKind(kind, source)) ?? kinds.find(({ isUsual }) => isUsual)
}

/** Values of `protocol` that a stream of a type can have. */
export function protocolsOf(type: StreamType): readonly string[] {
  return [...new Set(kindsOf(type).flatMap(({ protocols }) => protocols))]
}

/** The types of streams that can have a protocol; none where there is no such protocol. */
export function typesOfProtocol(protocol: string): readonly StreamType[] {
  return streamTypes.filter((type) => protocolsOf(type).includes(protocol))
}

/** How messages of a source are signed; undefined where they are not sent to an address of the stream's own. */
export function inboundRulesOf(source: Json): InboundRules | undefined {
  return sourceKinds.find((kind) => kind.inbound && isOfKind(kind, source))?.inbound
}

/** Whether others send to an address that is the stream's own. */
export function isInbound(source: Json): boolean {
  return inboundRulesOf(source) !== undefined
}

/**
 * Returns true when a source takes messages of more than one topic, so that two devices may send the same reading.
 * A filter with a wildcard counts as several topics, even if only one topic matches it.
 */
export function takesSeveralTopics(source: Json): boolean {
  return sourceKinds.some(
    (kind) => isOfKind(kind, source) && kind.takesSeveralTopics?.(source) === true,
  )
}

/**
 * The topic at our own broker that a stream takes its readings from, besides its own
 * (decisions.md#topics-and-filters).
 */
export function ownTopicOf(source: Json): string | undefined {
  return sourceKinds.find((kind) => isOfKind(kind, source))?.ownTopicOf?.(source)
}

/** The fields that messages of a source have, where it says all of them itself. */
export function messageFieldsOf(source: Json): readonly unknown[] | undefined {
  const kind = sourceKinds.find((one) => one.messageFieldsOf && isOfKind(one, source))
  return kind?.messageFieldsOf?.(source)
}

/** Whether a key of a source is one of its kind, whatever it means elsewhere. */
export function isOwnKey(key: string, source: Json): boolean {
  return sourceKinds.some((kind) => kind.fields[key] !== undefined && isOfKind(kind, source))
}

/** Whether the connector of a source writes the time of a reading into its field. */
export function hasWrittenTime(source: Json): boolean {
  return sourceKinds.some((kind) => kind.writesTime === true && isOfKind(kind, source))
}

/** Texts of a source that look like names of secrets, and are none. */
export function marksOf(source: Json): readonly string[] {
  return sourceKinds.find((kind) => kind.marks && isOfKind(kind, source))?.marks ?? []
}

/** A secret as it stands in the query of a source, where it means nothing but itself. */
export function inQuery(source: Json, secret: string): string {
  const kind = sourceKinds.find((one) => one.inQuery && isOfKind(one, source))
  return kind?.inQuery?.(source, secret) ?? secret
}

/** Parts of sources that hold secrets, each with those of its members that are none. */
export function openMembersOfSecretParts(): Readonly<Record<string, readonly string[]>> {
  const members = new Map<string, Map<string, boolean>>()
  for (const { fields } of sourceKinds) {
    for (const [key, field] of Object.entries(fields)) {
      const all = Object.entries(field.members ?? {})
      const hasSecrets = field.isSecret === true || all.some(([, { isSecret }]) => isSecret)
      if (!hasSecrets) continue
      const known = members.get(key) ?? new Map<string, boolean>()
      members.set(key, known)
      for (const [name, { isSecret = false }] of all) {
        known.set(name, isSecret || field.isSecret === true || known.get(name) === true)
      }
    }
  }
  const open = [...members].map(([key, known]) => [
    key,
    [...known].filter(([, isSecret]) => !isSecret).map(([name]) => name),
  ])
  return { ...(Object.fromEntries(open) as Record<string, readonly string[]>), secrets: [] }
}
