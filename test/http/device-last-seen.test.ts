import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { asDevice, type MadeDevice, newDevice, newStreams } from '../support/devices.ts'
import { newPerson, personOf } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

test('who was seen, and how, is known after a restart', async () => {
  const folder = services.newFolder()
  const before = await services.start(folder)
  const api = new ApiClient(before.http)
  const ada = await newPerson(api)
  const { streamIds } = await newStreams(ada)
  const [byHttp, byMqtt, unseen] = [
    await newDevice(ada, { streamIds }),
    await newDevice(ada, { streamIds }),
    await newDevice(ada, { streamIds }),
  ]
  await asDevice(api, byHttp, ['POST', `/streams/${streamIds[0]}/data`, { temperature: 1 }])
  const client = await connectAsync({
    port: before.mqttPort,
    username: byMqtt.apiKey,
    password: byMqtt.apiSecret,
  })
  await client.endAsync()
  await before.end('SIGTERM')

  const after = new ApiClient((await services.start(folder)).http)

  const again = personOf(after, ada.key)
  const seen = async ({ id }: MadeDevice) =>
    (await again.withKey<MadeDevice>('GET', `/devices/${id}`)).body['lastSeen']
  expect(await seen(byHttp)).toMatchObject({ address: '127.0.0.1', protocol: 'http' })
  expect(await seen(byMqtt)).toMatchObject({ address: '127.0.0.1', protocol: 'mqtt' })
  expect(await seen(unseen)).toBeNull()
})
