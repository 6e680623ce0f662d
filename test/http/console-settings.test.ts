import { describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const usual = { theme: 'system', timeZone: 'browser', shortcuts: true }

describe('settings of the console', () => {
  test('are the usual ones until somebody says otherwise, and those of the user from then on', async () => {
    const first = await service.api.withKey('GET', '/console/settings')
    expect(first).toMatchObject({ status: 200, body: usual })

    const wanted = { theme: 'dark', timeZone: 'Europe/Berlin', shortcuts: false }
    expect(await service.api.withKey('PUT', '/console/settings', wanted)).toMatchObject({
      status: 200,
      body: wanted,
    })
    const other = { ...wanted, theme: 'light' }
    await service.api.withKey('PUT', '/console/settings', other)
    expect((await service.api.withKey('GET', '/console/settings')).body).toEqual(other)
  })

  test('are those of each user, with whatever key', async () => {
    const ada = await newPerson(service.api, { permission: 'read_only' })
    const bob = await newPerson(service.api)
    const dark = { ...usual, theme: 'dark' }

    expect((await ada.withToken('PUT', '/console/settings', dark)).status).toBe(200)

    expect((await ada.withKey('GET', '/console/settings')).body).toEqual(dark)
    expect((await bob.withKey('GET', '/console/settings')).body).toEqual(usual)
  })

  test.each([
    ['a zone that there is not', { ...usual, timeZone: 'Europe/Atlantis' }, 'timeZone'],
    ['an offset in place of a zone', { ...usual, timeZone: '+09:00' }, 'timeZone'],
    ['a theme that there is not', { ...usual, theme: 'pink' }, 'theme'],
    ['no theme', { timeZone: 'UTC', shortcuts: true }, 'theme'],
  ])('%s is refused, and named', async (_, body, name) => {
    const answer = await service.api.withKey('PUT', '/console/settings', body)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(name)
  })
})
