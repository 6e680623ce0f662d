import * as fc from 'fast-check'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { parseEmail } from '../../src/core/email-address.ts'
import { type EventId, newId, type UserId } from '../../src/core/ids.ts'
import type { RecordedEvent } from '../../src/outbox/events/events.ts'
import { mailLinkRoutes } from '../../src/telling/mail/mail-link-routes.ts'
import { MailLinks } from '../../src/telling/mail/mail-links.ts'
import { MailPlanner } from '../../src/telling/mail/mail-step.ts'
import type { Recipient } from '../../src/telling/mail/recipient.ts'
import { RecipientStore } from '../../src/telling/mail/recipient-store.ts'
import { forgetVerifications } from '../../src/telling/mail/verification.ts'
import { dayUs, movesOf, secondUs, steps } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { LocalMails } from '../support/local-mails.ts'
import { newAddress } from '../support/mail-client.ts'
import { MailServer, reply } from '../support/mail-server.ts'
import { TestState } from '../support/test-state.ts'

const minuteUs = 60 * secondUs

const onlyMail = new Set(['email'])

/** Addresses, each of a user of its own, and a clock that is set. */
class Addresses {
  readonly clock = new HandClock()
  readonly recipients: RecipientStore
  readonly #tests: TestState

  constructor(tests: TestState) {
    this.#tests = tests
    this.recipients = new RecipientStore({ state: tests.state, writer: tests, clock: this.clock })
  }

  /** One that was asked for its consent. */
  async asked(): Promise<Recipient> {
    const email = newAddress()
    const address = parseEmail(email)
    if (!address) throw new Error(`${email} is no address`)
    const wanted = { email, address, severities: [] }
    const { recipient, changes } = this.recipients.plan(await this.#tests.newUser(), wanted)
    await this.#tests.commit(...changes)
    return recipient
  }

  /** One that is told of events. */
  async confirmed(): Promise<Recipient> {
    const recipient = await this.asked()
    await this.#tests.commit(this.recipients.verify(recipient))
    return recipient
  }
}

function eventOf(ownerId: UserId, atUs: number): RecordedEvent {
  const about = { resourceType: 'vault', resourceId: 'boiler', vaultId: 'boiler' }
  const others = { streamId: undefined, templateId: undefined, severity: undefined }
  const type = 'vault.created'
  return {
    id: newId<EventId>(),
    type,
    ownerId,
    atUs,
    ...about,
    ...others,
    data: '{}',
    isQuiet: false,
  }
}

test('however the wall clock is set, an address is written a hundred mails in each minute', async () => {
  await using tests = await TestState.open()
  const counts = fc.array(fc.integer({ min: 0, max: 70 }), { minLength: 12, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(movesOf(minuteUs / 2), counts, async (moves, happening) => {
      const addresses = new Addresses(tests)
      const { clock } = addresses
      const { ownerId } = await addresses.confirmed()
      const planner = new MailPlanner({ clock, onPlanned: () => undefined })
      const written = new Map<number, number>()
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        clock.atUs += passUs
        clock.step(stepUs)
        const minute = Math.floor(clock.steadyUs() / minuteUs)
        const before = written.get(minute) ?? 0
        const happens = happening[place] ?? 0
        const planned = await tests.state.transaction().execute(async (transaction) => {
          let rows = 0
          for (let count = 0; count < happens; count++)
            rows += await planner.step(transaction, eventOf(ownerId, clock.nowUs()), onlyMail)
          return rows
        })
        expect(planned).toBe(Math.min(happens, 100 - before))
        written.set(minute, before + planned)
      }
    }),
    { numRuns: 20 },
  )
})

test('however the wall clock is set, an address is asked ten times a day', async () => {
  await using tests = await TestState.open()
  const counts = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 12, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(movesOf(dayUs / 3), steps, counts, async (moves, startStepUs, wished) => {
      const addresses = new Addresses(tests)
      const { clock, recipients } = addresses
      clock.step(startStepUs)
      const { id } = await addresses.asked()
      const sentUs = [clock.steadyUs()]
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        clock.atUs += passUs
        clock.step(stepUs)
        const nowUs = clock.steadyUs()
        const needs = { state: tests.state, writer: tests }
        while (await forgetVerifications(needs, nowUs));
        for (let wish = 0; wish < (wished[place] ?? 0); wish++) {
          const recipient = await recipients.findAny(id)
          if (!recipient) throw new Error('the address is gone')
          const isAsked = await recipients.attempt(...recipients.planVerification(recipient))
          expect(isAsked).toBe(sentUs.filter((atUs) => atUs > nowUs - dayUs).length < 10)
          if (isAsked) sentUs.push(nowUs)
        }
      }
    }),
    { numRuns: 25 },
  )
})

test('however the wall clock is set, a link confirms an address until it shows three days later', async () => {
  await using tests = await TestState.open()
  const links = new MailLinks(new MasterKey(Buffer.alloc(32, 7)), 'https://vault.example')
  await fc.assert(
    fc.asyncProperty(movesOf(dayUs), steps, async (moves, startStepUs) => {
      const addresses = new Addresses(tests)
      const { clock, recipients } = addresses
      clock.step(startStepUs)
      const recipient = await addresses.asked()
      const kept = { days: 400, entries: 100, failedLogins: 10, aboutUser: 10 }
      const audit = new AuditLog(tests.state, clock, kept)
      const nowUs = () => clock.nowUs()
      const app = fastify({ routerOptions: { maxParamLength: 500 } })
      await app.register(
        mailLinkRoutes({ recipients, links, audit, changed: async () => undefined, nowUs }),
      )
      const link = links.verification(recipient.id, recipient.createdAtUs)
      for (const { passUs, stepUs } of moves) {
        clock.atUs += passUs
        clock.step(stepUs)
        const { statusCode } = await app.inject({ url: new URL(link).pathname })
        const isGood = clock.nowUs() <= recipient.createdAtUs + 3 * dayUs
        expect(statusCode).toBe(isGood ? 200 : 410)
      }
      await app.close()
    }),
    { numRuns: 25 },
  )
})

test('however the wall clock is set, a mail is tried again when the time has passed', async () => {
  await using server = await MailServer.start()
  await using local = await LocalMails.open(server)
  const { clock } = local
  await local.confirmed()
  await fc.assert(
    fc.asyncProperty(movesOf(30 * secondUs), async (moves) => {
      server.behaviour = { onRecipient: () => reply(451, 'come back later') }
      const before = (await local.attempts()).length
      await local.happens()
      await local.settled()
      let attempts = 1
      let dueUs = clock.steadyUs() + 5 * secondUs
      for (const { passUs, stepUs } of moves) {
        clock.step(stepUs)
        await local.pass(passUs)
        if (clock.steadyUs() >= dueUs) dueUs = clock.steadyUs() + 5 * secondUs * 2 ** attempts++
        expect(await local.attempts()).toHaveLength(before + attempts)
      }
      // The mail server takes what waits, so that nothing is left of this run.
      server.behaviour = {}
      await local.pass(dueUs - clock.steadyUs())
      const deliveries = await local.deliveries()
      expect(deliveries.filter(({ due_at: dueAt }) => dueAt !== null)).toEqual([])
    }),
    { numRuns: 15 },
  )
  expect(local.failures).toEqual([])
})
