import { describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Part {
  readonly id: string
}

const parts = [
  {
    part: 'entities',
    body: { name: 'Analytical Engines Ltd' },
    shown: { name: 'Analytical Engines Ltd', description: '', type: 'LEGAL_ENTITY' },
  },
  {
    part: 'credentials',
    body: { key: 'ada@example.com' },
    shown: {
      type: 'EMAIL',
      validated: false,
      identity_provider: '',
      key: 'ada@example.com',
      secret: '',
      ledger: 'XRPL',
    },
  },
]

describe.each(parts)('$part of a user', ({ part, body, shown }) => {
  test('are added, shown with the user, and removed', async () => {
    const ada = await newPerson(service.api)
    const path = `/users/${ada.userId}/${part}`

    const added = await ada.withKey<Part>('POST', path, body)

    expect(added.status).toBe(201)
    expect(added.body).toEqual({
      id: expect.any(String) as string,
      created_at: expect.stringMatching(/Z$/) as string,
      ...shown,
    })
    expect((await ada.withKey('GET', '/users')).body).toMatchObject({ [part]: [added.body] })
    expect((await ada.withKey('DELETE', `${path}/${added.body.id}`)).status).toBe(204)
    expect((await ada.withKey('DELETE', `${path}/${added.body.id}`)).status).toBe(404)
    expect((await ada.withKey('GET', '/users')).body).toMatchObject({ [part]: [] })
  })

  test('are nobody else’s to add or remove', async () => {
    const ada = await newPerson(service.api)
    const bob = await newPerson(service.api)
    const added = await ada.withKey<Part>('POST', `/users/${ada.userId}/${part}`, body)

    expect((await bob.withKey('POST', `/users/${ada.userId}/${part}`, body)).status).toBe(404)
    for (const userId of [ada.userId, bob.userId]) {
      const path = `/users/${userId}/${part}/${added.body.id}`
      expect((await bob.withKey('DELETE', path)).status).toBe(404)
    }
    expect((await ada.withKey('GET', '/users')).body).toMatchObject({ [part]: [added.body] })
  })

  test('are at most 20, also when more are added at one time', async () => {
    const ada = await newPerson(service.api)
    const added = Array.from({ length: 25 }, () =>
      ada.withKey('POST', `/users/${ada.userId}/${part}`, body),
    )

    const statuses = (await Promise.all(added)).map(({ status }) => status)

    expect(statuses.filter((status) => status === 201)).toHaveLength(20)
    expect(statuses.filter((status) => status === 409)).toHaveLength(5)
  })

  test('take no secret, and no field that they do not know', async () => {
    const ada = await newPerson(service.api)
    const path = `/users/${ada.userId}/${part}`

    const answer = await ada.withKey('POST', path, { ...body, secret: 'hunter2' })

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ details: [{ path: 'secret' }] })
  })

  test('need keys:admin', async () => {
    const ada = await newPerson(service.api, { permission: 'read_write' })

    const answer = await ada.withKey('POST', `/users/${ada.userId}/${part}`, body)

    expect(answer.status).toBe(403)
  })
})
