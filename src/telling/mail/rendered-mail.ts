import type { EntryType } from '../notifications/inbox/inbox-entry.ts'
import type { MailContent } from './mail-content.ts'
import { type FilledMail, htmlOf, plainTextOf } from './mail-templates.ts'

/** A mail as it is handed to a mail server: for one address. */
export interface RenderedMail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Id of the delivery, at each of its attempts: so who gets it twice can tell. */
  readonly id: string
  /** Where to say that no more are wanted: by a click of a person, or of a mail program (RFC 8058). */
  readonly unsubscribe: string
}

const colors: Readonly<Record<EntryType, string>> = {
  INFO: '#1f4fd1',
  SUCCESS: '#1a7f4b',
  WARNING: '#b26a00',
  ERROR: '#c22a2a',
  ACTION_REQUIRED: '#6b3fc4',
}

export function rendered(
  content: MailContent,
  { to, id, unsubscribe }: Pick<RenderedMail, 'to' | 'id' | 'unsubscribe'>,
): RenderedMail {
  const filled: FilledMail = { ...content, color: colors[content.tone], unsubscribe }
  const { subject } = content
  return { to, subject, text: plainTextOf(filled), html: htmlOf(filled), id, unsubscribe }
}
