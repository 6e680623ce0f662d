import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'

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

const secret = 'correct-horse-battery-staple-0001'

describe('readConfig', () => {
  test('needs no settings at all', () => {
    expect(readConfig({})).toEqual({
      dataDir: './data',
      host: '127.0.0.1',
      httpPort: 8080,
      mqttPort: 1883,
      mqttWebSocket: true,
      adminKey: undefined,
      masterKey: undefined,
      publicUrl: 'http://127.0.0.1:8080',
      timeSeries: { kind: 'duckdb' },
      journalBytesMax: 10 * 1024 ** 3,
      heldBytesMax: 1024 ** 3,
      diskBytesMin: 512 * 1024 ** 2,
      exportBytesMax: 10 * 1024 ** 3,
      importBytesMax: 1024 ** 3,
      filesAddress: { kind: 'folder' },
      uploadBytesMax: 2 * 1024 ** 3,
      filesBytesMax: 20 * 1024 ** 3,
      uploadWaitUs: 24 * 3_600_000_000,
      isAnchoring: true,
      anchorPatienceUs: 24 * 3_600_000_000,
      anchorBatchWaitUs: 50_000,
      sealGraceUs: 300_000_000,
      sealLedger: { ledger: 'XRPL', network: 'sandbox' },
      ledgers: [],
      ledgerNetworks: {
        XRPL: 'xrpl:0',
        POLYGON_ZKEVM: 'eip155:1101',
        POLYGON_POS: 'eip155:137',
        ETHEREUM: 'eip155:1',
      },
      resendEveryUs: 300_000_000,
      deliveriesKeptUs: 30 * 86_400_000_000,
      smtp: undefined,
      mailFrom: 'streamvault@localhost',
      log: { level: 'info', format: 'auto' },
      checkAnswers: false,
      tracing: undefined,
      tls: undefined,
      requiresClientCertificate: false,
      mqttsPort: 0,
      corsOrigins: [],
      trustedProxies: [],
      egressAllowed: [],
      sqliteFolders: [],
      mqttConnections: { ofAll: 10_000, ofAddress: 8_000, ofUser: 10_000 },
    })
  })

  test('reads every setting', () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64')
    const config = readConfig({
      STREAMVAULT_DATA_DIR: '/var/lib/streamvault',
      STREAMVAULT_HOST: '0.0.0.0',
      STREAMVAULT_HTTP_PORT: '80',
      STREAMVAULT_MQTT_PORT: '0',
      STREAMVAULT_ADMIN_KEY: 'sv_live_admin',
      STREAMVAULT_ADMIN_SECRET: secret,
      STREAMVAULT_MASTER_KEY: masterKey,
      STREAMVAULT_PUBLIC_URL: 'https://vault.example/api/',
      STREAMVAULT_JOURNAL_MAX: '500MiB',
      STREAMVAULT_DISK_MIN: '64MiB',
      STREAMVAULT_EXPORTS_MAX: '2GiB',
      STREAMVAULT_IMPORT_MAX: '20MiB',
      STREAMVAULT_FILES_URL: 's3://plant/files?endpoint=http://minio:9000&region=eu-central-1',
      STREAMVAULT_UPLOAD_MAX: '5GiB',
      STREAMVAULT_FILES_MAX: '1TiB',
      STREAMVAULT_UPLOAD_WAIT: '30m',
      STREAMVAULT_ANCHORING: 'off',
      STREAMVAULT_ANCHOR_PATIENCE: '2h',
      STREAMVAULT_ANCHOR_BATCH_WAIT: '20ms',
      STREAMVAULT_SEAL_GRACE: '2s',
      STREAMVAULT_SEAL_NETWORK: 'eip155:80002',
      STREAMVAULT_LEDGER_XRPL: 'wss://xrpl.example',
      STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:1',
      STREAMVAULT_LEDGER_XRPL_FEE_MAX: '5000',
      STREAMVAULT_LEDGER_POLYGON_POS: 'https://node.example/v1/token, http://[::1]:8545',
      STREAMVAULT_LEDGER_POLYGON_POS_NETWORK: 'eip155:80002',
      STREAMVAULT_LEDGER_POLYGON_POS_CONTRACT: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      STREAMVAULT_LEDGER_POLYGON_POS_FINALITY: '64',
      STREAMVAULT_LEDGER_POLYGON_POS_FEE_MAX: '200000000000',
      STREAMVAULT_LEDGER_ETHEREUM: 'https://node.example',
      STREAMVAULT_LEDGER_ETHEREUM_FINALITY: 'safe',
      STREAMVAULT_RESEND_EVERY: '2s',
      STREAMVAULT_DELIVERIES_KEPT: '12h',
      STREAMVAULT_SMTP_URL: 'smtps://vault:hunter%402@mail.example',
      STREAMVAULT_MAIL_FROM: 'iot@plant.example',
      STREAMVAULT_LOG_LEVEL: 'silent',
      STREAMVAULT_CHECK_ANSWERS: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:pass@collector.example:4318/otlp',
      STREAMVAULT_CORS_ORIGINS: 'https://console.example, http://localhost:3000',
      STREAMVAULT_TRUST_PROXY: '10.0.0.0/8,::1',
      STREAMVAULT_EGRESS_ALLOW: 'mosquitto:1883, [fd00::7]:8883',
      STREAMVAULT_SQLITE_FOLDERS: '/var/lib/plant, /srv/other',
      STREAMVAULT_MQTT_CONNECTIONS: '500',
      STREAMVAULT_MQTT_CONNECTIONS_PER_ADDRESS: '50',
      STREAMVAULT_MQTT_CONNECTIONS_PER_USER: '100',
      STREAMVAULT_TIMESERIES_URL: 'questdbs://vault:hunter2@[fd00::7]:9001/plant',
      STREAMVAULT_STATE_URL: 'sqlite',
      STREAMVAULT_JOURNAL_URL: 'sqlite',
    })

    expect(config).toEqual({
      dataDir: '/var/lib/streamvault',
      host: '0.0.0.0',
      httpPort: 80,
      mqttPort: 0,
      mqttWebSocket: false,
      adminKey: { key: 'sv_live_admin', secret },
      masterKey,
      publicUrl: 'https://vault.example/api',
      timeSeries: {
        kind: 'questdb',
        secure: true,
        host: 'fd00::7',
        port: 9001,
        user: { name: 'vault', password: 'hunter2' },
        prefix: 'plant_',
      },
      journalBytesMax: 500 * 1024 ** 2,
      heldBytesMax: 1024 ** 3,
      diskBytesMin: 64 * 1024 ** 2,
      exportBytesMax: 2 * 1024 ** 3,
      importBytesMax: 20 * 1024 ** 2,
      filesAddress: {
        kind: 's3',
        bucket: 'plant',
        prefix: 'files/',
        endpoint: 'http://minio:9000',
        region: 'eu-central-1',
      },
      uploadBytesMax: 5 * 1024 ** 3,
      filesBytesMax: 1024 ** 4,
      uploadWaitUs: 30 * 60_000_000,
      isAnchoring: false,
      anchorPatienceUs: 2 * 3_600_000_000,
      anchorBatchWaitUs: 20_000,
      sealGraceUs: 2_000_000,
      sealLedger: { ledger: 'POLYGON_POS', network: 'eip155:80002' },
      ledgers: [
        {
          ledger: 'XRPL',
          endpoints: ['wss://xrpl.example'],
          network: 'xrpl:1',
          contract: undefined,
          finality: 'finalized',
          feeMax: '5000',
        },
        {
          ledger: 'POLYGON_POS',
          endpoints: ['https://node.example/v1/token', 'http://[::1]:8545'],
          network: 'eip155:80002',
          contract: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
          finality: 64,
          feeMax: '200000000000',
        },
        {
          ledger: 'ETHEREUM',
          endpoints: ['https://node.example'],
          network: 'eip155:1',
          contract: undefined,
          finality: 'safe',
          feeMax: undefined,
        },
      ],
      ledgerNetworks: {
        XRPL: 'xrpl:1',
        POLYGON_ZKEVM: 'eip155:1101',
        POLYGON_POS: 'eip155:80002',
        ETHEREUM: 'eip155:1',
      },
      resendEveryUs: 2_000_000,
      deliveriesKeptUs: 12 * 3_600_000_000,
      smtp: {
        host: 'mail.example',
        port: 465,
        isSecure: true,
        startTls: 'required',
        login: { user: 'vault', password: 'hunter@2' },
      },
      mailFrom: 'iot@plant.example',
      log: { level: 'silent', format: 'auto' },
      checkAnswers: true,
      tracing: expect.objectContaining({ collector: 'collector.example:4318', waitingMax: 2_048 }),
      tls: undefined,
      requiresClientCertificate: false,
      mqttsPort: 0,
      corsOrigins: ['https://console.example', 'http://localhost:3000'],
      trustedProxies: ['10.0.0.0/8', '::1'],
      egressAllowed: [
        { host: 'mosquitto', port: 1883 },
        { host: 'fd00::7', port: 8883 },
      ],
      sqliteFolders: ['/var/lib/plant', '/srv/other'],
      mqttConnections: { ofAll: 500, ofAddress: 50, ofUser: 100 },
    })
  })

  test('takes an empty value for none', () => {
    const names = ['HOST', 'HTTP_PORT', 'ADMIN_KEY', 'ADMIN_SECRET', 'MASTER_KEY', 'JOURNAL_MAX']
    const empty = Object.fromEntries(names.map((name) => [`STREAMVAULT_${name}`, '']))

    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  test('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true)
  })

  test('derives the public URL from host and port', () => {
    const config = readConfig({ STREAMVAULT_HOST: 'vault.local', STREAMVAULT_HTTP_PORT: '81' })

    expect(config.publicUrl).toBe('http://vault.local:81')
  })

  test('takes an IPv6 host without asking for a public URL', () => {
    expect(readConfig({ STREAMVAULT_HOST: '::1' }).publicUrl).toBe('http://[::1]:8080')
  })

  test('reports all problems at once, each by the name of its setting', () => {
    const problems = problemsOf({
      STREAMVAULT_HTTP_PORT: 'eighty',
      STREAMVAULT_MQTT_PORT: '65536',
      STREAMVAULT_ADMIN_KEY: 'sv_live_admin',
      STREAMVAULT_MASTER_KEY: 'short',
      STREAMVAULT_PUBLIC_URL: 'vault.example',
      STREAMVAULT_JOURNAL_MAX: '10GB',
      STREAMVAULT_LOG_LEVEL: 'loud',
      STREAMVAULT_TIMESERIES_URL: 'questdb',
      STREAMVAULT_STATE_URL: 'postgres',
      STREAMVAULT_JOURNAL_URL: 'kafka',
    })

    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'STREAMVAULT_HTTP_PORT',
      'STREAMVAULT_MQTT_PORT',
      'STREAMVAULT_ADMIN_KEY',
      'STREAMVAULT_MASTER_KEY',
      'STREAMVAULT_PUBLIC_URL',
      'STREAMVAULT_TIMESERIES_URL',
      'STREAMVAULT_JOURNAL_MAX',
      'STREAMVAULT_LOG_LEVEL',
      'STREAMVAULT_STATE_URL',
      'STREAMVAULT_JOURNAL_URL',
    ])
  })

  test('refuses one port for two, and lets both be any or none', () => {
    const tls = { STREAMVAULT_TLS_CERT: '/cert.pem', STREAMVAULT_TLS_KEY: '/key.pem' }

    expect(problemsOf({ STREAMVAULT_HTTP_PORT: '1883' })).toEqual([
      'STREAMVAULT_MQTT_PORT must be another port than STREAMVAULT_HTTP_PORT: both are 1883',
    ])
    expect(problemsOf({ ...tls, STREAMVAULT_MQTTS_PORT: '1883' })).toContain(
      'STREAMVAULT_MQTTS_PORT must be another port than STREAMVAULT_MQTT_PORT: both are 1883',
    )
    expect(readConfig({ STREAMVAULT_HTTP_PORT: '0', STREAMVAULT_MQTT_PORT: '0' })).toMatchObject({
      httpPort: 0,
      mqttPort: 0,
    })
  })

  test.each(['0', '1', '65535'])('accepts the port %s', (port) => {
    expect(readConfig({ STREAMVAULT_HTTP_PORT: port }).httpPort).toBe(Number(port))
  })

  test.each(['65536', '-1', '80.5', '1e3', '0x50', ' 80', '080808'])(
    'refuses the port %j and shows it',
    (port) => {
      expect(problemsOf({ STREAMVAULT_HTTP_PORT: port })).toEqual([
        `STREAMVAULT_HTTP_PORT must be a port from 0 to 65535, not '${port}'`,
      ])
    },
  )

  test.each([
    ['1', 1],
    ['4096', 4096],
    ['1KiB', 1024],
    ['500MiB', 500 * 1024 ** 2],
    ['10GiB', 10 * 1024 ** 3],
    ['2TiB', 2 * 1024 ** 4],
  ])('reads the size %s', (text, bytes) => {
    expect(readConfig({ STREAMVAULT_JOURNAL_MAX: text }).journalBytesMax).toBe(bytes)
  })

  test.each(['0', '0GiB', '-1', '1.5GiB', '10GB', '10 GiB', '10gib', 'GiB', '9999999TiB', 'much'])(
    'refuses the size %j',
    (text) => {
      expect(problemsOf({ STREAMVAULT_JOURNAL_MAX: text })).toEqual([
        expect.stringContaining('STREAMVAULT_JOURNAL_MAX'),
      ])
    },
  )

  test.each(['ftp://vault.example', 'vault.example', 'http://', 'https://a b/'])(
    'refuses the public URL %j',
    (url) => {
      expect(problemsOf({ STREAMVAULT_PUBLIC_URL: url })).toHaveLength(1)
    },
  )

  test.each([
    'files',
    '/var/lib/files',
    'https://bucket',
    's3://',
    's3://b',
    's3://bucket:80/files',
    's3://bucket/%',
    's3://bucket?region=eu&key=x',
    's3://bucket?endpoint=minio:9000',
    's3://bucket?endpoint=http://minio:9000/path',
  ])('refuses the store of files %j', (url) => {
    expect(problemsOf({ STREAMVAULT_FILES_URL: url })).toEqual([
      expect.stringMatching(/^STREAMVAULT_FILES_URL .*(?:s3:|unknown|percent|endpoint)/),
    ])
  })

  test('refuses uploads that are larger than an object store takes', () => {
    expect(problemsOf({ STREAMVAULT_UPLOAD_MAX: '5368709121' })).toEqual([
      'STREAMVAULT_UPLOAD_MAX must be 5GiB at most',
    ])
  })

  test('refuses a wait for uploads that is no duration', () => {
    expect(problemsOf({ STREAMVAULT_UPLOAD_WAIT: 'a day' })).toEqual([
      expect.stringContaining('STREAMVAULT_UPLOAD_WAIT must be a duration'),
    ])
  })
})
