import type { ItemsLevel } from '../mapping.ts'
import type { ContextRoot } from '../path.ts'
import type { FieldMap, PayloadFormat, TimestampFormat } from '../stream-schema.ts'
import type { Completed, Fields } from './fields.ts'
import type { Json, Problems } from './problems.ts'

/** What sources are of. The type of a stream says which of these it can have. */
export type SourceFamily = 'device' | 'api' | 'database' | 'events' | 'machine'

/** A place in which a source may have `${name}` for one of its secrets. */
export type SecretPlace = 'endpoint' | 'headers' | 'body' | 'subscribe' | 'query'

/**
 * All that can be said of one kind of source, as a value. From it follow the checks of a definition, its type, which of
 * its parts are secret, its shape in the OpenAPI document, and the table of its page in `docs/`.
 */
export interface SourceKind<Own extends Fields = Fields> {
  /** What its shape is called in the OpenAPI document: `AmqpSource`. */
  readonly name: string
  readonly family: SourceFamily
  /** Values of `protocol` that it is for; none: the type of the stream says it all. */
  readonly protocols: readonly string[]
  /** Its own keys. Those that many have (`protocol`, formats, schedules, times, secrets) are added. */
  readonly fields: Own
  /** Whether a source of this family is one of this kind. Undefined: its protocol says so. */
  readonly takes?: (source: Json) => boolean
  /** Whether it is this kind where no other kind of its family takes a source. */
  readonly isUsual?: boolean
  /** Whether it is asked by a schedule. */
  readonly isScheduled?: boolean
  /** Keys about formats of payloads, about types of events as well, or none. Undefined: as others of its family. */
  readonly payloads?: 'formats' | 'events' | 'none'
  /** Why keys about formats, or about types of events, are refused. */
  readonly refuses?: { readonly formats?: string; readonly eventTypes?: string }
  /** Where secrets may be named; nowhere if it says nothing. */
  readonly secretPlaces?: readonly SecretPlace[]
  /** Texts that look like names of secrets there, and are none: `cursor` of `${cursor}`. */
  readonly marks?: readonly string[]
  /** How a secret is written in the query of a source, so that it means nothing but itself. */
  readonly inQuery?: (source: Json, secret: string) => string
  /** Says what is wrong with keys beside each other. */
  readonly checkAll?: (source: Json, problems: Problems) => void
  /** What would be stored and then not be done, if anything would be. */
  readonly unsupported?: (source: Json, problems: Problems) => void
  /** Whether messages of several topics, and so of several devices, may come through it. */
  readonly takesSeveralTopics?: (source: Json) => boolean
  /** The fields that its messages have, where the source says all of them. */
  readonly messageFieldsOf?: (source: Json) => readonly unknown[]
  /** What is known of its messages beside their bytes: where paths may begin. Nothing if it does not say. */
  readonly tells?: readonly ContextRoot[]
  /** Whether the connector writes the time of a reading into its field. */
  readonly writesTime?: boolean
  /** The topic at our own broker that its readings are published to, besides that of the stream. */
  readonly ownTopicOf?: (source: Json) => string | undefined
  /** Rules of a kind whose messages are sent to us, to an address of the stream's own. */
  readonly inbound?: InboundRules
}

export interface InboundRules {
  /** What a signature is made by. */
  readonly schemeOf: (source: Json) => string
  /** What is wrong with a secret for signatures of a scheme. */
  readonly secretProblem: (scheme: string, secret: string) => string | undefined
}

/** Keys that sources of many kinds have, as whoever connects needs them. */
interface SharedValues {
  readonly protocol?: string
  readonly schedule?: string
  readonly timezone?: string
  readonly format?: PayloadFormat
  /** Where in a message its readings are. */
  readonly items?: string | ItemsLevel | readonly ItemsLevel[]
  readonly columns?: readonly (string | null)[]
  readonly delimiter?: string
  /** The fields of each type of event, by its name. */
  readonly eventTypes?: Readonly<Record<string, FieldMap>>
  readonly eventTypeField?: string
  readonly timestampField?: string
  readonly timestampFormat?: TimestampFormat
  /** By their names; each stands already where `${name}` stood. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Whether somebody only tries it; never part of a definition. */
  readonly isTrial?: boolean
}

/** A source of one kind, with its defaults filled in. */
export type SourceOf<Kind extends SourceKind> = Completed<Kind['fields']> &
  Omit<SharedValues, keyof Kind['fields']>

/** A kind, with the type of each of its fields. */
export function sourceKind<const Own extends Fields>(kind: SourceKind<Own>): SourceKind<Own> {
  return kind
}

/** Whether a source is of a kind, among those that its stream may have. */
export function isOfKind({ takes, protocols }: SourceKind, source: Json): boolean {
  return takes?.(source) ?? protocols.some((protocol) => protocol === source['protocol'])
}

/** A source that was checked when it was defined, as its kind has it. It shows what is asked for, and copies nothing. */
export function sourceOf<Own extends Fields>(
  { fields }: SourceKind<Own>,
  source: Json,
): SourceOf<SourceKind<Own>> {
  const view = {}
  for (const key of new Set([...Object.keys(fields), ...Object.keys(source)])) {
    const usual = fields[key]?.default
    if (!(key in source) && usual === undefined) continue
    Object.defineProperty(view, key, { enumerable: true, get: () => source[key] ?? usual })
  }
  return view as SourceOf<SourceKind<Own>>
}
