import * as s from '../../requests/http/schema.ts'

/*
 * People who follow a link of a mail have no credentials, so these are no operations of
 * `operationsOf`: their routes have the whole description.
 */

const page = (description: string) =>
  s.answer({ ...s.text, examples: ['<!doctype html>'] }, { type: 'text/html', description })

const shared = {
  tags: ['Notifications'],
  params: s.record({ token: { ...s.text, description: 'From the mail.' } }),
} as const

const unknown = page('A page: the link is not one of ours, or its address was removed.')

const outOfUse = page('A page: the link has expired, or the address is switched off.')

export const lookAtVerification = {
  operationId: 'lookAtVerification',
  summary: 'Ask whether an address is to be confirmed, by the link in the mail to it.',
  ...shared,
  response: { 200: page('A page with a button.'), 404: unknown, 410: outOfUse },
} as const

export const verifyByMail = {
  operationId: 'verifyByMail',
  summary: 'Confirm an address, by the button that the link in the mail to it leads to.',
  description: 'The body, if there is one, is not looked at.',
  ...shared,
  response: {
    200: page('A page: the address is confirmed.'),
    404: unknown,
    410: outOfUse,
  },
} as const

export const lookAtUnsubscription = {
  operationId: 'lookAtUnsubscription',
  summary: 'Ask whether no more mails are wanted, by the link in each of them.',
  ...shared,
  response: { 200: page('A page with a button.'), 404: unknown },
} as const

export const unsubscribeByMail = {
  operationId: 'unsubscribeByMail',
  summary: 'Have no more mails sent to an address: by the button, or one click (RFC 8058).',
  description:
    'The body, if there is one, is not looked at. The address is DISABLED, and has to be confirmed again.',
  ...shared,
  response: { 200: page('A page: no more mails are sent.'), 404: unknown },
} as const
