import { SourceRefused } from '../../src/contracts/fetch-connector.ts'

/** What an error of a server means to whom it concerns: SQLSTATE, appendix A of the manual. */
const meanings: Readonly<Record<string, string>> = {
  '28000': 'the server does not let us in',
  '28P01': 'the server does not know this user name with this password',
  '3D000': 'there is no such database',
  '42501':
    'the user of the source lacks a permission (it needs REPLICATION and SELECT on the table)',
  '42704': 'something that is followed is missing on the server',
  '42P01': 'something that is followed is missing on the server',
  '53400': 'the server has no replication slot left (max_replication_slots)',
  '55000': 'the server cannot send its log',
}

/** The slot has somebody who reads it: another service, or a connection of ours that the server holds for alive. */
const objectInUse = '55006'

/** An error as somebody who is to mend it has to read it: a SourceRefused, where a repetition is of no use. */
export function describeFailure(error: unknown): Error {
  const { code, message } = error as { readonly code?: unknown; readonly message: string }
  if (typeof code !== 'string') return error as Error
  if (code === objectInUse) {
    const text = `${message}: the slot is in use, perhaps by another service that follows the same table; it is tried again`
    return new Error(text, { cause: error })
  }
  const meaning = meanings[code]
  if (meaning === undefined) return error as Error
  return new SourceRefused(`${meaning}: ${message}`, { cause: error })
}
