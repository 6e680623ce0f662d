import { describe, expect, test } from 'vitest'
import { withoutSecrets } from '../../src/streams/data-streams/source-secrets.ts'

const mark = '********'

describe('the source of a stream, as it is shown', () => {
  test('keeps what is no secret', () => {
    const source = { deviceId: 'boiler-7', protocol: 'mqtt', timestampField: 'at' }

    expect(withoutSecrets(source)).toEqual(source)
  })

  test.each(['credentials', 'authentication'])('has marks in %s', (part) => {
    const shown = withoutSecrets({
      [part]: { type: 'basic', username: 'plant', password: 'hush', token: { value: 'hush' } },
    })

    expect(shown).toEqual({
      [part]: { type: 'basic', username: 'plant', password: mark, token: mark },
    })
  })

  test('has marks in all headers, whatever they are called', () => {
    const shown = withoutSecrets({ headers: { type: 'hush', username: 'hush', accept: 'hush' } })

    expect(shown).toEqual({ headers: { type: mark, username: mark, accept: mark } })
  })

  test('shows whom a token is for, and where it comes from', () => {
    const open = { type: 'oauth2', tokenUrl: 'https://a.example', clientId: 'us', scope: 'read' }
    const shown = withoutSecrets({ authentication: { ...open, clientSecret: 'hush' } })

    expect(shown).toEqual({ authentication: { ...open, clientSecret: mark } })
  })

  test.each([
    ['a text', 'hush'],
    ['a list', ['hush']],
    ['an odd user name', { username: ['hush'] }],
  ])('has nothing of credentials that are %s', (_, credentials) => {
    expect(JSON.stringify(withoutSecrets({ credentials }))).not.toContain('hush')
  })
})
