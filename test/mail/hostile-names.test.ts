import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSmtpUrl } from '../../src/config/mail.ts'
import { parseEmail } from '../../src/core/email-address.ts'
import type { EventType } from '../../src/outbox/events/event-types.ts'
import {
  eventContent,
  type MailContent,
  verificationContent,
} from '../../src/telling/mail/mail-content.ts'
import { MailLinks } from '../../src/telling/mail/mail-links.ts'
import { rendered } from '../../src/telling/mail/rendered-mail.ts'
import { SmtpTransport } from '../../src/telling/mail/smtp-transport.ts'
import { MailServer, type ReceivedMail } from '../support/mail-server.ts'

/**
 * Names are what users want them to be. Whatever they are, a mail goes to its one address, says what it says on
 * its own lines, and its HTML has our elements only.
 */
const links = new MailLinks(
  { digest: () => 'd'.repeat(64), matches: () => true },
  'https://vault.example',
)
const to = 'ada@plant.example'
const at = { atUs: 1_700_000_000_123_456, resourceId: 'b4d2c1a0-0000-4000-8000-000000000000' }

let server: MailServer
let transport: SmtpTransport

beforeAll(async () => {
  server = await MailServer.start()
  const smtp = parseSmtpUrl(server.url)
  if (!smtp) throw new Error('no server')
  transport = new SmtpTransport(smtp, 'iot@plant.example')
})

afterAll(async () => {
  transport.close()
  await server[Symbol.asyncDispose]()
})

const pieces = [
  '\r\nBcc: eve@evil.example',
  '\nSubject: other',
  '\r\n\r\n<script>alert(1)</script>',
  '\r\n.\r\nMAIL FROM:<eve@evil.example>',
  '\u2028X-Evil: 1',
  '\u0085X-Evil: 1',
  '\u000bX-Evil: 1',
  '\u202Egnp.exe',
  '<img src=x onerror=alert(1)>',
  '"><a href="https://evil.example">click</a>',
  '</td></tr></table>',
  '<%= process.env %>',
  '<% throw new Error() %>',
  '${7*7}',
  '{{7*7}}',
  '=?utf-8?q?Bcc:_eve=40evil.example?=',
  '=?utf-8?b?DQpCY2M6IGV2ZQ==?=',
  'Kessel 7 für Ümläute 🔥',
  '\ud800',
  "' onmouseover='alert(1)",
  '&lt;b&gt;&#x3c;',
  'a'.repeat(2_000),
  ' ',
  ',eve@evil.example',
  '<eve@evil.example>',
]

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 20 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(''))

/** Every text of an event that somebody else than us writes. */
const events: Readonly<Record<string, (name: string) => { type: EventType; data: object }>> = {
  'the name of a vault': (name) => ({
    type: 'vault.created',
    data: { id: 'v', name, status: name },
  }),
  'the name of a stream': (name) => ({
    type: 'stream.created',
    data: { id: 's', name, type: name },
  }),
  'an asset code': (name) => ({ type: 'stream.completed', data: { id: 's', asset_code: name } }),
  'what an alert is about': (name) => ({
    type: 'stream.alert_triggered',
    data: {
      alertId: name,
      streamName: name,
      ruleId: name,
      field: name,
      severity: name,
      value: name,
      threshold: name,
      streamId: name,
    },
  }),
  'the name of a key': (name) => ({ type: 'security.key_created', data: { id: 'k', name } }),
  'the URL of a webhook': (name) => ({
    type: 'security.webhook_disabled',
    data: { id: 'w', url: `https://receiver.example/${name}`, consecutive_failures: 10 },
  }),
  'the address of another recipient': (name) => ({
    type: 'security.email_disabled',
    data: { id: 'e', email: name, consecutive_failures: 5 },
  }),
}

function contentOf(make: (name: string) => { type: EventType; data: object }, name: string) {
  const { type, data } = make(name)
  return eventContent({ ...at, type, data: JSON.stringify(data) }, links)
}

async function received(content: MailContent): Promise<ReceivedMail> {
  const unsubscribe = links.unsubscribing(at.resourceId)
  const mail = rendered(content, { to, id: at.resourceId, unsubscribe })
  const before = server.received.length
  expect(await transport.send(mail, AbortSignal.timeout(30_000))).toMatchObject({
    outcome: 'delivered',
  })
  expect(server.received).toHaveLength(before + 1)
  return server.received[before] as ReceivedMail
}

const headerNames = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

/** The elements of a page with their attributes, and no text. */
function elementsOf(html: string): readonly string[] {
  return html.match(/<[^>]*>/g) ?? []
}

describe.each(Object.entries(events))('%s', (_, make) => {
  test('cannot get into an envelope, a header or the structure of a mail', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (name) => {
        const { from, to: addresses, parsed } = await received(contentOf(make, name))
        expect([from, addresses]).toEqual(['iot@plant.example', [to]])
        expect(parsed.headers.map(({ key }) => key).toSorted()).toEqual(headerNames)
        expect(parsed.to).toEqual([{ address: to, name: '' }])
        expect([parsed.cc, parsed.bcc, parsed.replyTo]).toEqual([undefined, undefined, undefined])
        expect(parsed.attachments).toEqual([])
        expect(parsed.subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E]/u)
      }),
      { numRuns: 60 },
    )
  })

  test('cannot become an element of the HTML', async () => {
    const [, subject = ''] = /<title>(.*)<\/title>/.exec(htmlOf(contentOf(make, 'boiler 7'))) ?? []
    expect(subject).not.toBe('')
    fc.assert(
      fc.property(hostile, (name) => {
        const content = contentOf(make, name)
        // The rows that there are follow from which facts are texts at all.
        const tame = { ...content, ...tamed(content) }
        expect(elementsOf(htmlOf(content))).toEqual(elementsOf(htmlOf(tame)))
      }),
      { numRuns: 300 },
    )
  })

  test('cannot make a line of its own in the text', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const content = contentOf(make, name)
        expect(linesOf(content)).toHaveLength(linesOf({ ...content, ...tamed(content) }).length)
      }),
      { numRuns: 300 },
    )
  })
})

/** Replaces all words of users by harmless ones. */
function tamed({ paragraphs, facts }: MailContent): Partial<MailContent> {
  return {
    subject: 'x',
    heading: 'x',
    paragraphs: paragraphs.map(() => 'x'),
    facts: facts.map(() => ['x', 'x'] as const),
  }
}

function htmlOf(content: MailContent): string {
  return rendered(content, { to, id: 'i', unsubscribe: 'https://vault.example/u' }).html
}

function linesOf(content: MailContent): readonly string[] {
  const { text } = rendered(content, { to, id: 'i', unsubscribe: 'https://vault.example/u' })
  return text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
}

function newVault(name: string) {
  return { type: 'vault.created', data: { id: 'v', name } } as const
}

test('a name that looks encoded comes as it is', async () => {
  const name = `=?utf-8?b?DQpCY2M6IGV2ZQ==?= =?x ${'Kessel '.repeat(20)}🔥?=`
  const { parsed } = await received(contentOf(newVault, name))
  expect(parsed.subject).toBe(`Vault created: ${name}`)
})

test('the mail says what the name is, as far as it is to be read', async () => {
  const name = 'Kessel 7 <b>für</b> Ümläute 🔥'
  const { parsed } = await received(contentOf(newVault, name))
  expect(parsed.subject).toBe(`Vault created: ${name}`)
  expect(parsed.text).toContain(`Vault created: ${name}\n`)
  expect(parsed.html).toContain('Kessel 7 &lt;b&gt;für&lt;/b&gt; Ümläute 🔥')
})

test('whatever is taken for an address has one line, no name, and is one address', () => {
  const address = fc.oneof(
    hostile,
    fc.tuple(hostile, hostile).map(([local, domain]) => `${local}@${domain}`),
    fc.tuple(fc.emailAddress(), hostile).map((parts) => parts.join('')),
    fc.emailAddress(),
  )
  fc.assert(
    fc.property(address, (text) => {
      const wire = parseEmail(text)?.wire
      if (wire === undefined) return
      expect(wire).toMatch(/^[\x21-\x7e]+$/)
      expect(wire).not.toMatch(/[<>,;:"\\()[\]]/)
      expect(wire.split('@')).toHaveLength(2)
    }),
    { numRuns: 3_000 },
  )
})

test('the question for consent says nothing of users but the address', async () => {
  const href = links.verification(at.resourceId, at.atUs)
  const { parsed } = await received(verificationContent(to, { href, host: links.host }))
  expect(parsed.headers.map(({ key }) => key).toSorted()).toEqual(headerNames)
  expect(parsed.text).toContain(`wants notifications to be sent to ${to}.`)
})
