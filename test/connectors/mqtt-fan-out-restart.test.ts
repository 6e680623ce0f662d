import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, personOf, streamOf } from '../support/people.ts'
import { newDataDir, startServiceProcess } from '../support/service-process.ts'

let port = 0
const connect = mqttClients(() => port)

test('readings wait for a subscriber who has not come back since a restart', async () => {
  const before = await startServiceProcess(newDataDir())
  port = before.mqttPort
  const ada = await newPerson(new ApiClient(before.http))
  const streamId = await streamOf(ada)
  const topic = `streams/${streamId}/data`
  const session = { clientId: 'screen', clean: false }
  const screen = await connect(ada.key, session)
  await screen.subscribe(topic)
  await screen.mqtt.endAsync()
  await before.end('SIGTERM')

  const after = await startServiceProcess(before.dataDir)
  port = after.mqttPort
  const again = personOf(new ApiClient(after.http), ada.key)
  await again.withToken('POST', `/streams/${streamId}/data`, '{"temperature":1}')
  const back = await connect(ada.key, session)

  await expect.poll(() => back.messages).toMatchObject([{ topic, payload: '{"temperature":1}' }])
  await after.end('SIGTERM')
  rmSync(before.dataDir, { recursive: true })
})
