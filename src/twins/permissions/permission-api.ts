import * as s from '../../requests/http/schema.ts'
import { roles } from '../rights/right.ts'

const role = s.choice(roles, {
  description: 'READ lets see it, WRITE also change it.',
})

const expiry = s.nullable({
  ...s.text,
  description: 'RFC 3339 with a zone, and in the future; null: no end.',
  examples: ['2100-01-31T00:00:00Z'],
})

const shared = {
  user_id: s.uuid,
  username: { ...s.text, description: 'Empty when the user is deleted.' },
  role,
  granted_by: s.uuid,
  expires_at: s.nullable(s.dateTime),
}

export const vaultPermissionSchema = s.component(
  'VaultPermission',
  s.record({ id: s.uuid, created_at: s.dateTime, vault_id: s.uuid, ...shared }),
)

export const streamPermissionSchema = s.component(
  'StreamPermission',
  s.record({ id: s.uuid, created_at: s.dateTime, stream_id: s.uuid, ...shared }),
)

export const newPermissionSchema = s.component(
  'NewPermission',
  s.record(
    {
      username: {
        ...s.text,
        minLength: 1,
        maxLength: 200,
        description: 'Of the user that it is for; case makes no difference.',
        examples: ['ada'],
      },
      role,
      expires_at: expiry,
    },
    { optional: ['expires_at'] },
  ),
)

export const permissionChangeSchema = s.component(
  'PermissionChange',
  s.partial({ role, expires_at: expiry }, { examples: [{ role: 'WRITE' }] }),
)
