import type {
  BearerOperations,
  KeyOperations,
  operationPaths,
  SharedOperations,
} from './operations.ts'

/** What a bearer token, or a session of the console that chooses `bearer`, can ask for. */
export interface Operations extends SharedOperations, BearerOperations {}

/** What a key can ask for. */
export interface OperationsByKey extends SharedOperations, KeyOperations {}

export type Interface = 'bearer' | 'header-key'

export type OperationsOf<One extends Interface> = One extends 'bearer'
  ? Operations
  : OperationsByKey

export type OperationId = keyof typeof operationPaths

export type NamedTexts = Readonly<Record<string, string>>

/** What any call takes beside what its operation does. */
export interface CallOptions {
  readonly headers?: NamedTexts | undefined
  readonly signal?: AbortSignal | undefined
  /** That of a call before, which this one repeats; without it a POST makes one of its own. */
  readonly idempotencyKey?: string | undefined
}

/** A body that is not JSON. */
export type RawContent = NonNullable<RequestInit['body']>

/** What an operation takes: its parameters, and its body as JSON or as bytes of a type. */
export type Asked<Operation> = Omit<Filtered<Operation>, 'answer' | 'rawType'> &
  (Operation extends { readonly rawType: infer Type }
    ? { readonly raw?: { readonly type: Type; readonly content: RawContent } | undefined }
    : unknown) &
  CallOptions

/** A filter by a tag has the name of the tag in its own. */
type Filtered<Operation> = {
  [Part in keyof Operation]: Part extends 'query' ? Operation[Part] & TagFilters : Operation[Part]
}

type TagFilters = { readonly [tag in `tag.${string}`]?: string | undefined }

/** It can be left out where the operation needs nothing. */
export type Argument<Operation> =
  Partial<Asked<Operation>> extends Asked<Operation>
    ? [asked?: Asked<Operation>]
    : [asked: Asked<Operation>]

export type AnswerOf<Operation> = Operation extends { readonly answer: infer Answer }
  ? Answer
  : never

/** `Asked` of an operation that is known only when it runs. */
export interface AskedOfAny extends CallOptions {
  readonly path?: NamedTexts
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly raw?: { readonly type: string; readonly content: RawContent }
}
