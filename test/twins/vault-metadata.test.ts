import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/* These never change: what was anchored once has to be found again. */
const text =
  '{"created_at":"2026-01-31T10:00:00.123456Z","default_image":"bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e","description":null,"format":"streamvault-metadata-1","name":"boiler 7 \u00e9 \u{1f9ca}","payload":"{\\"/\\": \\"x\\", \\"hall\\": 3}","payload_sha256":"f8de433d7aca98fc1564c27f32c8665dd0f4000282b252eccc263bb9b9852e2b","salt":"AAECAwQFBgcICQoLDA0ODw==","streams":["bafkreid4tmifsbkye2resuf2y7llamx6x52vwstqmruu2kwdnnp7xsfxr4"],"template":"0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60","template_metadata_cid":"bafkreidw3uxbz6f6jl6crnt6xgtjhvvzfajs6vxga23uewwta4baxwebe4","type":"vault"}'
const metadataCid = 'bafkreibcegc27xihy5jjw4j3ifs4bkmvnggdrsgn4b6vjaifpi46ehztwq'
const folderCid = 'bafybeifjzbimeiekcshzxu6vk3eqzwo2ockkwlyyw4zgqmcvske62ehhki'

test.each(['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati'])(
  'a vault has the CIDs that it always had, in the time zone %s',
  async (zone) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['test/support/vault-cids.ts'], {
      env: { ...process.env, TZ: zone },
    })

    expect(JSON.parse(stdout)).toEqual([text, metadataCid, folderCid])
  },
)
