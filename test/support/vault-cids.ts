import type { TemplateId } from '../../src/core/ids.ts'
import { vaultCids } from '../../src/twins/vaults/vault-metadata.ts'

/** The CIDs of one vault, on a line: what is the same in every release, and in every time zone. */
const { metadata, parts } = await vaultCids(
  {
    name: 'boiler 7 \u00e9 \u{1f9ca}',
    description: null,
    templateId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60' as TemplateId,
    jsonPayload: '{"/": "x", "hall": 3}',
    defaultImageCid: 'bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
    public: false,
    createdAtUs: 1_769_853_600_123_456,
  },
  {
    templateMetadataCid: 'bafkreidw3uxbz6f6jl6crnt6xgtjhvvzfajs6vxga23uewwta4baxwebe4',
    streamMetadataCids: ['bafkreid4tmifsbkye2resuf2y7llamx6x52vwstqmruu2kwdnnp7xsfxr4'],
    imageSize: 5,
  },
  'AAECAwQFBgcICQoLDA0ODw==',
)
console.log(JSON.stringify([Buffer.from(metadata.bytes).toString(), metadata.cid, parts[0].cid]))
