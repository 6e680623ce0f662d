import { writeFileSync } from 'node:fs'
import { verifySignature } from 'streamvault/verify-signature'
import { describe, expect, test } from 'vitest'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { testReceiver } from '../support/test-receiver.ts'

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.0/8' })
const receiver = await testReceiver()

const environment = () => settingsOf(service.process.dataDir)
const json = <Result>(...words: readonly string[]) => streamvaultJson<Result>(words, environment())
const run = (...words: readonly string[]) => streamvault(words, environment())

type Row = Readonly<Record<string, unknown>>

/** The ids that a command without --json prints in its first column. */
async function idsOf(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(...words)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [heading = '', ...rows] = stdout.trimEnd().split('\n')
  expect(heading).toMatch(/^(ID|DELIVERY|STEP) /)
  return rows.map((row) => row.split(' ')[0] ?? '')
}

test('templates are created, listed, found, shown and deleted', async () => {
  const made = await json<{ id: string }>(
    'templates',
    'create',
    '--name',
    'cold room',
    '--required-streams',
    'GOLD, OIL',
  )
  const found = await json<Row[]>('templates', 'list', '--search', 'COLD')
  const shown = await json<Row>('templates', 'get', made.id)
  const deleted = await json('templates', 'delete', made.id)

  expect(made).toMatchObject({
    hint: 'cold room',
    public: false,
    required_streams: ['GOLD', 'OIL'],
  })
  expect(found.map(({ id }) => id)).toEqual([made.id])
  expect(shown).toMatchObject({ id: made.id, name: 'cold room' })
  expect(deleted).toEqual({ templateId: made.id, deleted: true })
  expect(await idsOf('templates', 'list')).not.toContain(made.id)
})

test('vaults are private, of a template that is made once, unless something else is said', async () => {
  const first = await json<{ vaultId: string; template_id: string }>(
    'vaults',
    'create',
    '--name',
    'mill 1',
  )
  const second = await json<{ vaultId: string; template_id: string }>(
    'vaults',
    'create',
    '--name',
    'mill 2',
    '--public',
    '--description',
    'by the river',
  )
  const found = await json<Row[]>('vaults', 'list', '--contains', 'MILL')
  const shown = await json<Row>('vaults', 'get', second.vaultId)

  expect(second.template_id).toBe(first.template_id)
  expect(found.map(({ vaultId, public: isPublic }) => [vaultId, isPublic])).toEqual([
    [first.vaultId, false],
    [second.vaultId, true],
  ])
  expect(shown).toMatchObject({ vaultId: second.vaultId, description: 'by the river' })
  expect(await json('vaults', 'delete', first.vaultId)).toMatchObject({ deleted: true })
  expect(await idsOf('vaults', 'list', '--contains', 'mill')).toEqual([second.vaultId])
})

test('devices are made with a secret that works, rotated, revoked and deleted', async () => {
  const { api } = service
  const streamId = await api.createStream()
  const made = await json<{ id: string; apiSecret: string }>(
    'devices',
    'create',
    '--name',
    'pump',
    '--streams',
    streamId,
    '--expires',
    '1d',
  )
  const push = (secret: string) =>
    api.request('POST', `/streams/${streamId}/data`, {
      headers: { 'x-api-key': made.id, 'x-api-secret': secret },
      body: { temperature: 1 },
    })

  expect((await push(made.apiSecret)).status).toBe(202)
  const rotated = await json<{ apiSecret: string }>('devices', 'rotate', made.id, '--overlap', '0')
  expect((await push(made.apiSecret)).status).toBe(401)
  expect((await push(rotated.apiSecret)).status).toBe(202)
  expect(await json<Row[]>('devices', 'list', '--stream', streamId)).toMatchObject([
    { id: made.id, name: 'pump', state: 'active' },
  ])
  expect(await json('devices', 'revoke', made.id)).toMatchObject({ state: 'revoked' })
  expect((await push(rotated.apiSecret)).status).toBe(401)
  expect(await idsOf('devices', 'list', '--stream', streamId, '--state', 'active')).toEqual([])
  expect((await run('devices', 'get', made.id)).stdout).toMatch(/^state +revoked$/m)
  expect(await json('devices', 'delete', made.id)).toEqual({ deviceId: made.id, deleted: true })
})

test('a rule begins an alert, which reaches a webhook and the inbox, and is acknowledged', async () => {
  const { api } = service
  const vaultId = await api.createVault()
  const streamId = await api.createStream(undefined, { vaultId })
  const url = `http://127.0.0.1:${receiver.port}/hook`
  const check = await run('webhooks', 'check', url)
  const webhook = await json<{ webhookId: string; secret: string }>(
    'webhooks',
    'create',
    url,
    '--vaults',
    vaultId,
    '--severities',
    'critical',
  )
  const rule = await json<{ alertRuleId: string; ruleId: string; streams: Row }>(
    'rules',
    'create',
    '--name',
    'frost',
    '--vault',
    vaultId,
    '--field',
    'temperature',
    '--below',
    '-5',
    '--severity',
    'critical',
  )
  // The command has waited: the very next reading is judged by the rule.
  await api.withToken('POST', `/streams/${streamId}/data`, { temperature: -6 })
  await expect.poll(() => receiver.received.length).toBe(1)
  const [delivery] = receiver.received
  const alerts = await json<{ alertId: string; state: string }[]>(
    'alerts',
    'list',
    '--vault',
    vaultId,
    '--state',
    'firing',
  )
  const { alertId = '' } = alerts[0] ?? {}
  const acknowledged = await json('alerts', 'acknowledge', alertId, '--comment', 'on my way')

  expect({ code: check.code, stdout: check.stdout }).toEqual({
    code: 0,
    stdout: 'allowed    yes\naddresses  127.0.0.1\n',
  })
  expect(rule.streams).toEqual({ matching: 1, pending: 0, leftOut: 0 })
  expect(delivery && verifySignature(delivery, webhook.secret)).toBe(true)
  expect(alerts).toMatchObject([{ ruleId: rule.ruleId, value: -6, threshold: -5 }])
  expect(acknowledged).toMatchObject({ alertId, state: 'acknowledged' })
  expect(await json<Row[]>('alerts', 'history', alertId)).toMatchObject([
    { cause: 'reading', to: 'firing' },
    { cause: 'acknowledge', to: 'acknowledged', comment: 'on my way' },
  ])
  expect(await idsOf('rules', 'list')).toContain(rule.alertRuleId)
  const muted = await json<{ mutedUntil: string }>('alerts', 'mute', alertId, '--until', '2h')
  expect(Date.parse(muted.mutedUntil)).toBeGreaterThan(Date.now() + 3_600_000)
  expect(await json('alerts', 'unmute', alertId)).toMatchObject({ mutedUntil: null })

  const [entry] = await json<{ id: string; message: string }[]>(
    'inbox',
    'list',
    '--unread',
    '--severity',
    'critical',
  )
  expect(entry?.message).toContain('-6, limit -5')
  expect(await json('inbox', 'read', entry?.id ?? '')).toMatchObject({ read: true })
  expect(await idsOf('inbox', 'list', '--unread', '--severity', 'critical')).toEqual([])
  expect(await json('inbox', 'read-all')).toEqual({ unread_count: 0 })

  expect(await json('alerts', 'clear', alertId)).toMatchObject({ state: 'cleared' })
  expect(await json('rules', 'delete', rule.alertRuleId)).toMatchObject({ deleted: true })
  expect(await json('webhooks', 'delete', webhook.webhookId)).toMatchObject({ deleted: true })
})

test('a webhook is tested, shows its deliveries, sends one again, pauses and gets another secret', async () => {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('secret'), 'a secret of my own\n')
  const url = `http://127.0.0.1:${receiver.port}/hook`
  const { webhookId } = await json<{ webhookId: string }>(
    'webhooks',
    'create',
    url,
    '--secret-file',
    folder.file('secret'),
    '--events',
    'vault.created,stream.alert_triggered',
  )
  const planned = await json<{ delivery_id: string }>('webhooks', 'test', webhookId)
  await expect.poll(() => receiver.received.length).toBe(1)
  const [delivery] = receiver.received
  await expect.poll(() => idsOf('webhooks', 'deliveries', webhookId)).toHaveLength(1)
  await json('webhooks', 'resend', webhookId, planned.delivery_id)
  await expect.poll(() => receiver.received.length).toBe(2)

  expect(delivery && verifySignature(delivery, 'a secret of my own')).toBe(true)
  expect(await json('webhooks', 'pause', webhookId)).toMatchObject({ active: false })
  expect(await idsOf('webhooks', 'list', '--status', 'PAUSED')).toEqual([webhookId])
  expect(await json('webhooks', 'resume', webhookId)).toMatchObject({ active: true })
  const rotated = await json<{ secret: string }>(
    'webhooks',
    'rotate-secret',
    webhookId,
    '--overlap',
    '0',
  )
  expect((await run('webhooks', 'get', webhookId)).stdout).toContain(rotated.secret)
})

describe('a refusal', () => {
  test('of the service has a line that says what to do, and a member with --json', async () => {
    const words = ['vaults', 'get', 'no-such-vault']
    const text = await run(...words)
    const { stderr } = await run(...words, '--json')

    expect({ code: text.code, stdout: text.stdout }).toEqual({ code: 1, stdout: '' })
    expect(text.stderr).toMatch(/^streamvault: no vault no-such-vault\nWhat to do: [^\n]+\n$/)
    expect(JSON.parse(stderr)).toEqual({
      error: 'not_found',
      message: 'no vault no-such-vault',
      remedy: expect.stringMatching(/^[A-Z].*\.$/) as string,
    })
  })

  test('of a destination names the setting', async () => {
    const check = await run('webhooks', 'check', 'http://10.1.2.3:9000/')
    const create = await run('webhooks', 'create', 'http://10.1.2.3:9000/')

    expect(check.code).toBe(1)
    expect(check.stdout).toMatch(/^allowed +no\nreason .*STREAMVAULT_EGRESS_ALLOW/)
    expect(create.code).toBe(1)
    expect(create.stderr).toMatch(/\nWhat to do: .*STREAMVAULT_EGRESS_ALLOW/)
  })

  test('of a file that is not JSON names the place, and shows nothing of it', async () => {
    using folder = new TemporaryFolder()
    writeFileSync(folder.file('rule.json'), '{"secret": "hush-hush" x}')

    const { code, stderr } = await run('rules', 'create', '--file', folder.file('rule.json'))

    expect(code).toBe(1)
    expect(stderr).toMatch(/cannot be read: it is not JSON at position 23/)
    expect(stderr).not.toContain('hush')
  })
})

test('a rule that can begin no alert says so', async () => {
  const { api } = service
  const vaultId = await api.createVault()
  const words = ['rules', 'create', '--name', 'n', '--vault', vaultId, '--field', 'temprature']

  const none = await run(...words, '--above', '1')
  const streamId = await api.createStream(undefined, { vaultId })
  const leftOut = await run(...words, '--operator', '!=', '--threshold', 'true')

  expect(none.stderr).toBe('No data stream matches it yet.\n')
  expect(leftOut.stderr).toMatch(
    `It does not hold for 1 data streams, such as ${streamId}: there is no field temprature\n`,
  )
  expect(leftOut.stdout).toMatch(/^when +temprature != true$/m)
})

test('a source is tried before a stream is made of it, with the file of the stream', async () => {
  using folder = new TemporaryFolder()
  receiver.behaviour = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"level": 7}')
  const source = { endpoint: `http://127.0.0.1:${receiver.port}/x`, schedule: '0 * * * *' }
  const definition = { name: 'tank', vaultId: 'any', type: 'api_pull', source }
  const check = async (schema?: object) => {
    writeFileSync(folder.file('stream.json'), JSON.stringify({ ...definition, schema }))
    return await run('sources', 'check', '--file', folder.file('stream.json'))
  }

  const proposed = await check()
  const accepted = await check({ level: { type: 'number' } })
  const refused = await check({ level: { type: 'string' } })
  receiver.behaviour = (response) => void response.writeHead(500).end()
  const away = await check()

  expect(proposed.stdout).toMatch(/^reached +yes\n[\s\S]*proposed definition:\n[\s\S]*"level"/)
  expect([proposed.code, accepted.code, refused.code, away.code]).toEqual([0, 0, 1, 1])
  expect(refused.stdout).toMatch(/^reading +refused: .*level must be string/m)
  expect(away.stdout).toMatch(/^reached +no\nproblem +/)
})
