import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'
import { idleSettings } from '../../src/config/idle-settings.ts'
import { sentenceOf, unknownSettings } from '../../src/config/unknown-settings.ts'

const { known } = readSettings({})
const names = [...known].filter((name) => name.startsWith('STREAMVAULT_'))

function nearestOf(name: string): string | undefined {
  return unknownSettings({ [name]: 'on' }, known)[0]?.nearest
}

describe('a setting that nobody reads', () => {
  test.each([
    ['STREAMVAULT_HTP_PORT', 'STREAMVAULT_HTTP_PORT'],
    ['STREAMVAULT_EGRESS_ALOW', 'STREAMVAULT_EGRESS_ALLOW'],
    ['STREAMVAULT_EGRESS_ALLOWED', 'STREAMVAULT_EGRESS_ALLOW'],
    ['STREAMVAULT_EGERSS_ALLOW', 'STREAMVAULT_EGRESS_ALLOW'],
    ['streamvault_http_port', 'STREAMVAULT_HTTP_PORT'],
    ['Streamvault_Host', 'STREAMVAULT_HOST'],
    ['STREAMVAULT_LOGLEVEL', 'STREAMVAULT_LOG_LEVEL'],
    ['STREAMVAULT_DATADIR', 'STREAMVAULT_DATA_DIR'],
    ['STREAMVAULT_SMPT_URL', 'STREAMVAULT_SMTP_URL'],
    ['STREAMVAULT_PORT', 'STREAMVAULT_HTTP_PORT'],
    ['STREAMVAULT_LEVEL', 'STREAMVAULT_LOG_LEVEL'],
    // Two slips in a short one.
    ['STREAMVAULT_HASTE', 'STREAMVAULT_HOST'],
  ])('%s may be meant for %s', (name, meant) => {
    expect(nearestOf(name)).toBe(meant)
  })

  test.each(['STREAMVAULT_SOMETHING_ELSE', 'STREAMVAULT_', 'STREAMVAULT_COLOUR'])(
    '%s looks like none',
    (name) => {
      expect(unknownSettings({ [name]: '' }, known)).toEqual([{ name, nearest: undefined }])
    },
  )

  test('is said with what may have been meant', () => {
    const [setting] = unknownSettings({ STREAMVAULT_HTP_PORT: '1' }, known)
    expect(setting && sentenceOf(setting)).toBe(
      'STREAMVAULT_HTP_PORT (did you mean STREAMVAULT_HTTP_PORT?)',
    )
  })
})

test('what is known is no unknown setting, nor is what belongs to others', () => {
  const environment = Object.fromEntries(names.map((name) => [name, 'x']))
  expect(unknownSettings({ ...environment, PATH: '', NODE_ENV: '' }, known)).toEqual([])
})

test('one letter that is missing, twice, or another is found again', () => {
  const slips = fc.record({
    name: fc.constantFrom(...names.filter((name) => name.length > 'STREAMVAULT_HOST'.length)),
    place: fc.nat(),
    slip: fc.constantFrom('missing', 'twice', 'another'),
  })
  fc.assert(
    fc.property(slips, ({ name, place, slip }) => {
      const at = 'STREAMVAULT_'.length + (place % (name.length - 'STREAMVAULT_'.length))
      const put = { missing: '', twice: `${name[at]}${name[at]}`, another: 'X' }[slip]
      const misspelt = name.slice(0, at) + put + name.slice(at + 1)
      fc.pre(!known.has(misspelt))
      const nearest = nearestOf(misspelt)
      // Another one may be as near: MQTT_PORT and MQTTS_PORT.
      expect(nearest).toBeDefined()
    }),
  )
})

/** Names of the settings that do nothing. */
function idle(environment: Readonly<Record<string, string>>): readonly (string | undefined)[] {
  return idleSettings(environment, readSettings(environment).config).map(
    (text) => text.split(' ')[0],
  )
}

test('a setting that does nothing without another one is found', () => {
  const given = {
    STREAMVAULT_MAIL_FROM: 'iot@plant.example',
    STREAMVAULT_MQTTS_PORT: '8884',
    STREAMVAULT_QUESTDB_HELD_MAX: '1GiB',
  }
  expect(idle(given)).toEqual(Object.keys(given))
  expect(idle({})).toEqual([])
  expect(idle({ ...given, STREAMVAULT_SMTP_URL: 'smtp://mail' })).not.toContain(
    'STREAMVAULT_MAIL_FROM',
  )
})

test('clients are not asked for certificates without an authority: that is refused', () => {
  const { problems } = readSettings({ STREAMVAULT_TLS_CLIENT_CERT: 'required' })
  expect(problems).toEqual([expect.stringContaining('needs STREAMVAULT_TLS_CLIENT_CA')])
})
