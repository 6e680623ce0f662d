import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import { makeCertificate } from '../support/certificate.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
afterAll(() => folder[Symbol.dispose]())
const { certPath, keyPath } = makeCertificate(folder.path)
const stranger = makeCertificate(folder.path, 'stranger')

/** The lines of the error that an environment causes; none when it is fine. */
function problemsOf(environment: Readonly<Record<string, string>>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n')
  }
}

describe('the certificate', () => {
  const tls = { STREAMVAULT_TLS_CERT: certPath, STREAMVAULT_TLS_KEY: keyPath }

  test('brings MQTTS and an https address', () => {
    expect(readConfig(tls)).toMatchObject({
      tls: { certPath, keyPath },
      mqttsPort: 8883,
      publicUrl: 'https://127.0.0.1:8080',
    })
  })

  test('leaves MQTTS out when its port is 0', () => {
    expect(readConfig({ ...tls, STREAMVAULT_MQTTS_PORT: '0' }).mqttsPort).toBe(0)
  })

  test.each([{ STREAMVAULT_TLS_CERT: certPath }, { STREAMVAULT_TLS_KEY: keyPath }])(
    'must come with its key: %j',
    (half) => {
      expect(problemsOf(half)).toEqual([
        'STREAMVAULT_TLS_CERT and STREAMVAULT_TLS_KEY must be given together',
      ])
    },
  )

  test.each([
    ['is not there', join(folder.path, 'nothing.crt'), keyPath],
    ['is none', keyPath, keyPath],
    ['belongs to another key', certPath, stranger.keyPath],
  ])('that %s is refused at the start', (_, cert, key) => {
    const problems = problemsOf({ STREAMVAULT_TLS_CERT: cert, STREAMVAULT_TLS_KEY: key })

    expect(problems).toEqual([
      expect.stringMatching(/^STREAMVAULT_TLS_CERT and _TLS_KEY must be .+: .+/) as string,
    ])
  })
})

describe('STREAMVAULT_CORS_ORIGINS', () => {
  test.each(['*', 'console.example', 'https://console.example/', 'https://a.example/path', 'null'])(
    'refuses %s and shows it',
    (origin) => {
      expect(problemsOf({ STREAMVAULT_CORS_ORIGINS: `https://fine.example,${origin}` })).toEqual([
        expect.stringContaining(`not '${origin}'`) as string,
      ])
    },
  )
})

describe('STREAMVAULT_TRUST_PROXY', () => {
  test.each(['192.0.2.1', '10.0.0.0/8', '::1', 'fd00::/8', ' 192.0.2.1 , 10.0.0.0/8 '])(
    'takes %s',
    (list) => {
      expect(problemsOf({ STREAMVAULT_TRUST_PROXY: list })).toEqual([])
    },
  )

  test.each([
    'true',
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/',
    '::1/129',
    '1.2.3',
    '10.0.0.0/8/8',
  ])('refuses %s and shows it', (entry) => {
    expect(problemsOf({ STREAMVAULT_TRUST_PROXY: entry })).toEqual([
      expect.stringContaining(`not '${entry}'`) as string,
    ])
  })
})

describe('STREAMVAULT_EGRESS_ALLOW', () => {
  test('takes hosts, networks and ranges of ports', () => {
    const list = 'plc:502, plc-7:500-510, 10.0.0.0/8, 10.0.0.0/8:1-2, [fd00::7]:80, [fd00::/8]:80'
    expect(problemsOf({ STREAMVAULT_EGRESS_ALLOW: list })).toEqual([])
  })

  test.each(['*:502', '10.0.0.7', 'plc:0', 'plc:9-8', '10.0.0.0/40', 'http://plc:80', '127.1:80'])(
    'refuses %s, which could allow nothing, and shows it',
    (entry) => {
      expect(problemsOf({ STREAMVAULT_EGRESS_ALLOW: `plc:502,${entry}` })).toEqual([
        expect.stringMatching(/^STREAMVAULT_EGRESS_ALLOW .*10\.0\.0\.0\/8/) as string,
      ])
      expect(problemsOf({ STREAMVAULT_EGRESS_ALLOW: entry })[0]).toContain(`'${entry}'`)
    },
  )
})
