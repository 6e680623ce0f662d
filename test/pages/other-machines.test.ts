import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { type PageBlock, pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { missingProxies, type ProxyName, startProxy } from '../support/reverse-proxy.ts'

const page = 'docs/other-machines.md'
const host = 'streamvault.example.com'
const missing = missingProxies()
const isSkipped = isPageSkipped(page) || (missing.length > 0 && !process.env['CI'])

interface Ports {
  readonly http: string
  readonly mqtts: string
  readonly proxy: string
}

/** What the page shows, for this machine alone: tests listen at 127.0.0.1, at ports that are free. */
function here(text: string, { http, mqtts, proxy }: Ports): string {
  return text
    .replaceAll('0.0.0.0', '127.0.0.1')
    .replaceAll(':8080', `:${http}`)
    .replaceAll('8883', mqtts)
    .replaceAll(':443:', `:${proxy}:`)
    .replaceAll(/(https:\/\/streamvault\.example\.com)(?=\/\w)/g, `$1:${proxy}`)
}

/** The configurations of the page, with a certificate of our own, at 127.0.0.1. */
const configurations: Readonly<
  Record<ProxyName, (text: string, folder: string, port: string) => string>
> = {
  caddy: (text, folder, port) =>
    text.replace(
      `${host} {`,
      `https://${host}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/server.crt ${folder}/server.key`,
    ),
  nginx: (text, folder, port) =>
    text
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replaceAll('/etc/ssl/streamvault', `${folder}/server`),
}

describe.skipIf(isSkipped)(`the commands of ${page}`, () => {
  const blocks = pageBlocks(page)
  let reader: PageRun
  let folder = ''
  let ports: Ports
  let endProxy: (() => Promise<void>) | undefined

  const shell = async (commands: string) => (await reader.shell.run(here(commands, ports))).trim()

  async function run(block: PageBlock): Promise<void> {
    const { text, output } = block
    await reader.run({
      ...block,
      text: here(text, ports),
      output: output === undefined ? undefined : here(output, ports),
    })
    // Without the setting it is the default, which others may use here.
    if (/^unset .*STREAMVAULT_MQTT_PORT/m.test(text)) {
      await shell(`export STREAMVAULT_MQTT_PORT=${await freePort()}`)
    }
  }

  async function startWith(name: ProxyName): Promise<void> {
    await endProxy?.()
    const block = blocks.find(({ language }) => language === name)
    const text = configurations[name](here(block?.text ?? '', ports), folder, ports.proxy)
    writeFileSync(join(folder, block?.label ?? ''), text)
    endProxy = await startProxy(name, folder, Number(ports.proxy))
  }

  beforeAll(async () => {
    if (missing.length > 0) throw new Error(`${missing.join(', ')}: run scripts/install-test-tools`)
    reader = await PageRun.start(page)
    folder = (await reader.shell.run('pwd')).trim()
    const [http = ''] = /\d+$/.exec((await reader.shell.run('echo $API')).trim()) ?? []
    ports = { http, mqtts: String(await freePort()), proxy: String(await freePort()) }
    await shell(`export STREAMVAULT_MQTTS_PORT=${ports.mqtts} STREAMVAULT_HTTP_PORT=${http}`)
  })

  afterAll(async () => {
    await endProxy?.()
    await reader.end()
  })

  test.each(blocks.map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => {
      if (block.language === 'caddy') {
        await startWith('caddy')
        // The certificate that Caddy would get is trusted everywhere.
        await shell('export CURL_CA_BUNDLE=$PWD/server.crt')
      } else if (block.language === 'nginx') {
        await startWith('nginx')
      } else {
        await run(block)
      }
    },
  )

  describe.each(['caddy', 'nginx'] as const)('through %s', (name) => {
    const throughProxy = `curl -s --resolve ${host}:443:127.0.0.1`
    const at = `https://${host}/`

    beforeAll(async () => {
      await startWith(name)
      const definition = { name, type: 'iot_sensor', schema: { temperature: { type: 'number' } } }
      await shell(`
        LOCAL=http://127.0.0.1:8080
        TOKEN=$(curl -s $LOCAL/auth/token -H 'content-type: application/json' -d @$ADMIN | jq -r .accessToken)
        post() { curl -s "$LOCAL$1" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d "$2"; }
        TEMPLATE=$(post /templates '{"name": "t", "hint": "", "required_streams": []}' | jq -r .id)
        VAULT=$(post /vaults "{\\"template_id\\": \\"$TEMPLATE\\", \\"name\\": \\"v\\"}" | jq -r .id)
        STREAM=$(echo '${JSON.stringify(definition)}' | jq -c ".vaultId = \\"$VAULT\\"" > d.json; post /streams @d.json | jq -r .streamId)`)
    })

    test('requests of the page are answered', async () => {
      const requests = blocks.filter(({ text }) => text.includes(':443:'))
      expect(requests).toHaveLength(2)
      for (const block of requests) await run(block)
    })

    test('the service sees the address of the client', async () => {
      const source = await shell(`
        ${throughProxy} --interface 127.0.0.2 ${at}streams/$STREAM/data -o refused.json \
          -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"temperature": "hot"}'
        until curl -s $LOCAL/streams/$STREAM/quarantine -H "authorization: Bearer $TOKEN" | jq -er '.entries[0].source'
        do sleep 0.2; done`)

      expect(source.split('\n').at(-1)).toBe('http 127.0.0.2')
    })

    test('a device publishes over a WebSocket', async () => {
      const [stream = '', token = ''] = (await shell('echo $STREAM; echo $TOKEN')).split('\n')
      const ca = readFileSync(join(folder, 'server.crt'))
      const wsOptions = { ca, servername: host, headers: { host } }
      const client = await connectAsync(`wss://127.0.0.1:${ports.proxy}/mqtt`, {
        username: 'bearer',
        password: token,
        wsOptions,
      })
      await client.publishAsync(`streams/${stream}/data`, '{"temperature": 21.5}', { qos: 1 })
      await client.endAsync()

      await expect
        .poll(
          async () =>
            await shell('curl -s $LOCAL/streams/$STREAM/latest -H "authorization: Bearer $TOKEN"'),
        )
        .toContain('21.5')
    })

    test('readings are followed as they arrive', async () => {
      const followed = await reader.shell.inBackground(
        here(
          `${throughProxy} -N ${at}streams/$STREAM/tail -H "authorization: Bearer $TOKEN"`,
          ports,
        ),
      )
      await expect.poll(followed).toContain('retry:')
      await shell(`post /streams/$STREAM/data '{"temperature": 77.25}'`)

      await expect.poll(followed).toContain('77.25')
    })

    test('large bodies pass', async () => {
      const status = await shell(`
        jq -nc '[range(30000) | {temperature: ., note: ("x" * 150)}]' | jq -c '.[:9000]' > large.json
        [ $(wc -c < large.json) -gt 1000000 ]
        ${throughProxy} -o /dev/null -w '%{http_code}' ${at}streams/$STREAM/data \
          -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d @large.json`)

      expect(status).toBe('202')
    })
  })
})
