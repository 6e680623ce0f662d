import { isObject } from '../../src/contracts/definitions/field-map.ts'
import {
  checkFields,
  duration,
  type Field,
  type Fields,
  newField,
  oneOf,
  part,
  refined,
  schemaOf,
  text,
  texts,
} from '../../src/contracts/definitions/fields.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { durationUs } from '../../src/core/duration.ts'
import { address } from './addresses.ts'
import { tls } from './credentials.ts'

/** Header fields of one request. */
const headersMax = 50

/** Longest time for one request. */
const timeoutSecondsMax = 3_600

/**
 * Headers that the connection, the length and what is understood depend on: they are set as they
 * have to be.
 */
const ownHeaders = [
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** RFC 9110, section 5.6.2. */
const tokenPattern = /^[\w!#$%&'*+\-.^`|~]{1,200}$/

/** What a header can be made of (RFC 9110, section 5.5): nothing that would begin another line. */
const headerValuePattern = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** Headers that the source adds to those of the service. */
const headers = refined(texts(headersMax), (value, key, problems) => {
  const inner = problems.within(key)
  const seen = new Set<string>()
  for (const [name, item] of Object.entries(value)) {
    const problem = headerProblem(name) ?? headerValueProblem(item)
    const isSecond = seen.has(name.toLowerCase())
    if (problem !== undefined) inner.add(cutText(name, 100), problem)
    else if (isSecond) inner.add(name, 'comes twice')
    seen.add(name.toLowerCase())
  }
})

function headerProblem(name: string): string | undefined {
  if (!tokenPattern.test(name)) return 'is not a name of a header'
  const lower = name.toLowerCase()
  const isOurs = ownHeaders.includes(lower) || /^(proxy|sec-websocket)-/.test(lower)
  return isOurs ? 'is set by the service' : undefined
}

export function headerValueProblem(value: string): string | undefined {
  return headerValuePattern.test(value) ? undefined : 'must be on one line, in Latin-1'
}

const headerName = newField<string>(
  (value, key, problems) => {
    const problem = typeof value === 'string' ? headerProblem(value) : 'is not a name of a header'
    if (problem !== undefined) problems.add(key, problem)
  },
  { type: 'string', pattern: tokenPattern.source },
)

const headerText: Field<string> = {
  ...text,
  rule: (value, key, problems) => {
    text.rule(value, key, problems)
    const problem = typeof value === 'string' ? headerValueProblem(value) : undefined
    if (problem !== undefined) problems.add(key, problem)
  },
}

/** All keys of an authentication; which of them there are goes by its type. */
const authenticationFields = {
  type: {
    ...oneOf('none', 'basic', 'bearer', 'apiKey', 'oauth2'),
    isRequired: true,
    doc: 'how it is proved who asks',
  },
  username: { ...text, doc: 'of `basic`' },
  password: { ...text, isSecret: true, doc: 'of `basic`' },
  token: { ...headerText, isSecret: true, doc: 'of `bearer`' },
  name: { ...text, doc: 'of `apiKey`: what the header, or the parameter, is called' },
  value: { ...text, isSecret: true, doc: 'of `apiKey`' },
  in: { ...oneOf('header', 'query'), default: 'header', doc: 'of `apiKey`: where it stands' },
  tokenUrl: { ...address('https', 'http'), doc: 'of `oauth2`: who gives tokens' },
  clientId: { ...text, doc: 'of `oauth2`' },
  clientSecret: { ...text, isSecret: true, doc: 'of `oauth2`' },
  scope: { ...text, doc: 'of `oauth2`' },
  secretIn: {
    ...oneOf('header', 'body'),
    default: 'header',
    doc: 'of `oauth2`: where the secret stands in the request for a token',
  },
} as const satisfies Fields

type AuthenticationKey = keyof typeof authenticationFields

/** Keys of each type: those that it has to have, and those that it may have. */
const keysOfTypes: Readonly<
  Record<
    string,
    {
      readonly required: readonly AuthenticationKey[]
      readonly optional?: readonly AuthenticationKey[]
    }
  >
> = {
  none: { required: [] },
  basic: { required: ['username', 'password'] },
  bearer: { required: ['token'] },
  apiKey: { required: ['name', 'value'], optional: ['in'] },
  oauth2: { required: ['tokenUrl', 'clientId', 'clientSecret'], optional: ['scope', 'secretIn'] },
}

/** Who is asking. */
export type HttpAuthentication =
  | { readonly type: 'none' }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'bearer'; readonly token: string }
  | {
      readonly type: 'apiKey'
      readonly name: string
      readonly value: string
      readonly in?: 'header' | 'query'
    }
  | {
      readonly type: 'oauth2'
      readonly tokenUrl: string
      readonly clientId: string
      readonly clientSecret: string
      readonly scope?: string
      /** Where the secret is sent (RFC 6749, section 2.3.1): in a header unless something is said. */
      readonly secretIn?: 'header' | 'body'
    }

const authentication: Field<HttpAuthentication> = {
  members: authenticationFields,
  schema: schemaOf(authenticationFields),
  rule: (value, key, problems) => {
    const type = isObject(value) ? value['type'] : undefined
    const keys = typeof type === 'string' ? keysOfTypes[type] : undefined
    if (!isObject(value) || keys === undefined) {
      const typeAlone = part({ type: authenticationFields.type })
      typeAlone.rule(isObject(value) ? { type } : value, key, problems)
      return
    }
    const fields: Record<string, Fields[string]> = { type: authenticationFields.type }
    for (const name of keys.required) {
      fields[name] = { ...authenticationFields[name], isRequired: true }
    }
    for (const name of keys.optional ?? []) fields[name] = authenticationFields[name]
    if (type === 'apiKey' && value['in'] !== 'query') {
      fields['name'] = { ...headerName, isRequired: true, doc: '' }
      fields['value'] = { ...headerText, isRequired: true, doc: '' }
    }
    checkFields(value, fields, problems.within(key))
  },
}

/** How long one request may take. */
export const timeout = refined(duration, (value, key, problems) => {
  const isLong = (durationUs(value) ?? 0) > timeoutSecondsMax * 1_000_000
  if (isLong) problems.add(key, 'must be an hour at most')
})

/** Names with dots between them: where in a message something is. */
export const memberPath = newField<string>(
  (value, key, problems) => {
    const isPath = typeof value === 'string' && value.length <= 500 && pathPattern.test(value)
    if (!isPath) problems.add(key, 'must be names with dots between them, such as data.items')
  },
  { type: 'string', maxLength: 500 },
)

const pathPattern = /^[^\s.[\]]+(\.[^\s.[\]]+)*$/

/** The keys of a source that is asked over HTTP. */
export const requestFields = {
  headers: {
    ...headers,
    isSecret: true,
    doc: 'up to 50. They are secrets, like passwords. Those of the connection and of the length are ours, and so are `accept-encoding`, `range` and those of conditional requests',
  },
  authentication: {
    ...authentication,
    doc: 'who is asking: [`none`, `basic`, `bearer`, `apiKey`, `oauth2`](api-pull.md#authentication)',
  },
  tls: {
    ...tls,
    doc: '`ca`: whom to trust, in PEM; the usual authorities when left out. `servername`: whom to expect where that is not the host',
  },
} as const
