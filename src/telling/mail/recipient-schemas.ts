import { severities } from '../../../processors/alert-rules.ts'
import {
  boolean,
  component,
  count,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  pageOf,
  pageQuery,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { attemptFields } from '../delivery/attempt-schema.ts'
import { emailLengthMax } from './email-address.ts'
import { recipientStatuses } from './recipient.ts'

const email = {
  ...text,
  minLength: 3,
  maxLength: emailLengthMax,
  description: 'Without a name; the same in any case.',
  examples: ['ada@plant.example'],
} as const

const filters = record(
  { severities: listOf({ ...text, enum: severities }, { maxItems: 3 }) },
  {
    optional: ['severities'],
    description:
      'Of which alerts it is told; an empty list leaves nothing out. No other events have a severity.',
  },
)

const recipient = component(
  'EmailRecipient',
  record({
    id: uuid,
    created_at: dateTime,
    email: text,
    status: {
      ...text,
      enum: recipientStatuses,
      description:
        'PENDING_VERIFICATION: nothing is sent before the link in the mail to it was followed. DISABLED: switched off, unsubscribed, or failed too often.',
    },
    verified_at: nullable(dateTime),
    filters: record({ severities: listOf({ ...text, enum: severities }) }),
    consecutive_failures: count,
    last_delivery_at: { ...nullable(dateTime), description: 'When the mail server last took one.' },
  }),
)

const attempt = component(
  'MailAttempt',
  record({
    ...attemptFields,
    event_type: { ...text, description: 'Of the question for consent: `email.verification`.' },
    status_code: {
      ...attemptFields.status_code,
      description: 'What the mail server has answered (RFC 5321); none without an answer.',
    },
    message: { ...text, description: '`skipped: no mail server` where none is configured.' },
    delivered: { ...boolean, description: 'Taken by the mail server.' },
  }),
)

const tags = ['Notifications'] as const
const params = idParams('configId')

export const createRecipient = {
  operationId: 'createEmailRecipient',
  summary: 'Add an address that is told of events by mail; it is sent a link that confirms it.',
  description: 'A user has five addresses at most, each once; those that are DISABLED count.',
  tags,
  headers: keyHeaders,
  body: component(
    'NewEmailRecipient',
    record({ email, filters }, { optional: ['filters'], examples: [{ email: email.examples[0] }] }),
  ),
  response: { 201: recipient },
} as const

export const listRecipients = {
  operationId: 'listEmailRecipients',
  summary: "List one's own addresses.",
  tags,
  querystring: query(pageQuery),
  response: { 200: pageOf(recipient) },
} as const

export const readRecipient = {
  operationId: 'readEmailRecipient',
  summary: 'Read an address.',
  tags,
  params,
  response: { 200: recipient },
} as const

export const changeRecipient = {
  operationId: 'changeEmailRecipient',
  summary: 'Switch an address on or off, or change which alerts it is told of.',
  description:
    'What is not sent keeps its value. ACTIVE begins anew with no failures, and is for addresses that were confirmed.',
  tags,
  params,
  body: component(
    'EmailRecipientChange',
    record(
      { status: { ...text, enum: ['ACTIVE', 'DISABLED'] }, filters },
      { optional: ['status', 'filters'], examples: [{ status: 'DISABLED' }] },
    ),
  ),
  response: { 200: recipient },
} as const

export const verifyRecipient = {
  operationId: 'askEmailRecipientAgain',
  summary: 'Send another mail with a link that confirms the address.',
  tags,
  headers: keyHeaders,
  params,
  response: { 202: recipient },
} as const

export const deleteRecipient = {
  operationId: 'deleteEmailRecipient',
  summary: 'Remove an address; nothing is sent to it any more.',
  tags,
  params,
  response: { 204: noContent },
} as const

export const listMailAttempts = {
  operationId: 'listMailAttempts',
  summary: 'List the attempts to send mails to an address, newest first.',
  tags,
  params,
  querystring: query(pageQuery),
  response: { 200: pageOf(attempt) },
} as const
