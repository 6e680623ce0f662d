import { describe, expect, test } from 'vitest'
import { withoutSecrets } from '../../src/data-streams/source-secrets.ts'

const mark = '********'

describe('the source of a stream, as it is shown', () => {
  test('keeps what is no secret', () => {
    const source = { deviceId: 'boiler-7', protocol: 'mqtt', timestampField: 'at' }

    expect(withoutSecrets(source)).toEqual(source)
  })

  test.each(['credentials', 'authentication', 'headers'])('has marks in %s', (part) => {
    const shown = withoutSecrets({
      [part]: { type: 'basic', username: 'plant', password: 'hush', token: { value: 'hush' } },
    })

    expect(shown).toEqual({
      [part]: { type: 'basic', username: 'plant', password: mark, token: mark },
    })
  })

  test.each([
    ['a text', 'hush'],
    ['a list', ['hush']],
    ['an odd user name', { username: ['hush'] }],
  ])('has nothing of credentials that are %s', (_, credentials) => {
    expect(JSON.stringify(withoutSecrets({ credentials }))).not.toContain('hush')
  })
})
