import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { makeAuthority } from '../support/certificate.ts'
import { newPerson } from '../support/people.ts'
import { Receiver } from '../support/receiver.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const known = makeAuthority(folder.path, 'known')
const unknown = makeAuthority(folder.path, 'unknown')

const good = await Receiver.start(known.signServer('DNS:localhost'))
const stranger = await Receiver.start(unknown.signServer('DNS:localhost,IP:127.0.0.1'))

const service = runningService({
  STREAMVAULT_EGRESS_ALLOW: [good, stranger]
    .flatMap(({ port }) => [`localhost:${port}`, `127.0.0.1:${port}`])
    .join(','),
  NODE_EXTRA_CA_CERTS: known.certPath,
})

afterAll(async () => {
  await good[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

interface Attempt {
  readonly status_code: number | null
  readonly message: string
  readonly delivered: boolean
}

/** The outcome of a test of a webhook that leads there. */
async function outcomeAt(url: string): Promise<Attempt | undefined> {
  const person = await newPerson(service.api)
  const at = '/notifications/webhooks'
  const body = { url, event_types: ['vault.created'] }
  const { id } = (await person.withKey<{ id: string }>('POST', at, body)).body
  await person.withKey('POST', `${at}/${id}/test`, {})
  for (;;) {
    const answer = await person.withKey<{ content: readonly Attempt[] }>(
      'GET',
      `${at}/${id}/deliveries`,
    )
    if (answer.body.content.length > 0) return answer.body.content[0]
    await sleep(10)
  }
}

test('a delivery over TLS arrives where the certificate is good for the name', async () => {
  expect(await outcomeAt(`https://localhost:${good.port}/`)).toMatchObject({ delivered: true })
  expect(good.received[0]?.headers.host).toBe(`localhost:${good.port}`)
})

test('nothing is sent where it is good for another name', async () => {
  const before = good.received.length
  expect(await outcomeAt(`https://127.0.0.1:${good.port}/`)).toMatchObject({
    status_code: null,
    delivered: false,
    message: expect.stringContaining("does not match certificate's altnames") as string,
  })
  expect(good.received).toHaveLength(before)
})

test('nothing is sent where nobody known has signed it', async () => {
  expect(await outcomeAt(`https://localhost:${stranger.port}/`)).toMatchObject({
    status_code: null,
    delivered: false,
    message: expect.stringContaining('unable to verify the first certificate') as string,
  })
  expect(stranger.received).toEqual([])
})
