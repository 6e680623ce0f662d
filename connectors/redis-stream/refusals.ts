import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { RedisError } from './redis-connection.ts'

/** Characters of what a server says that are shown. */
const shownLength = 500

/** What the first word of an error means to whom it concerns, where a repetition is of no use. */
const meanings: Readonly<Record<string, string>> = {
  WRONGPASS: 'the server does not know this user name with this password',
  NOAUTH: 'the server asks for a password, and the source has no password',
  NOPERM: 'the user of the source lacks a permission (docs/redis-streams.md lists what it needs)',
  DENIED: 'the server does not let us in',
  WRONGTYPE: 'the key that is named as topic holds something else than a stream',
  MOVED: 'the server is part of a cluster, and another node has the stream: name that as endpoint',
  READONLY: 'the server is a replica, and a group needs the one that is written to',
}

/** What only the text of an error tells. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/invalid password/i, 'the server does not know this password'],
  [/AUTH.*without any password/i, 'the server has no password, and the source has one'],
  [
    /wrong number of arguments for 'auth'/i,
    'the server knows no user names, and the source has one',
  ],
  [/DB index|SELECT is not allowed/i, 'the server has no database of this number'],
  [/unknown command/i, 'the server is too old for streams, or they are forbidden there'],
]

/** An error as somebody who is to mend it has to read it: a SourceRefused, where a repetition is of no use. */
export function describeFailure(error: unknown): Error {
  if (!(error instanceof RedisError)) return error as Error
  const said = cutText(error.message, shownLength)
  const meaning = meanings[error.code] ?? texts.find(([pattern]) => pattern.test(said))?.[1]
  if (meaning !== undefined) return new SourceRefused(`${meaning}: ${said}`, { cause: error })
  return new Error(said, { cause: error })
}
