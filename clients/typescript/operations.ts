// Made from the OpenAPI document of the service by `npm run docs`; do not edit.

/** Operations that are the same with a bearer token and with a key. */
export interface SharedOperations {
  /**
   * Say that a person takes care of a firing alert.
   *
   * Needs the permission `data:write`.
   */
  readonly acknowledgeAlert: {
    readonly path: { readonly alertId: string }
    readonly body?: { readonly comment?: string | undefined } | null
    readonly answer: Alert
  }

  /**
   * Take the messages of a denied device again.
   *
   * Its next message goes to its stream; without a stream it is a new device.
   *
   * Needs the permission `streams:write`.
   */
  readonly allowFleetDevice: {
    readonly path: {
      readonly fleetId: string

      /** The name that its messages have. */
      readonly device: string
    }
    readonly answer: FleetDevice
  }

  /**
   * Allow a sender of CloudEvents to send.
   *
   * The handshake of the CloudEvents webhook specification: a sender with the header
   * `WebHook-Request-Origin` gets its name back in `WebHook-Allowed-Origin`, and `*` in
   * `WebHook-Allowed-Rate`. Only a stream whose format is `cloudevents` answers. Needs no
   * credentials, and shows nothing of the stream.
   */
  readonly allowWebhook: {
    readonly path: {
      /** The last part of the address of the stream. */
      readonly hookId: string
    }
    readonly answer: undefined
  }

  /**
   * Archive entries: they leave the list and the count.
   *
   * Those with these ids, or all that are read. Ids that are unknown or archived already are
   * passed over.
   *
   * Needs the permission `notifications:write`.
   */
  readonly archiveInboxEntries: {
    readonly body: InboxArchival
    readonly answer: { readonly archived: number }
  }

  /**
   * Send another mail with a link that confirms the address.
   *
   * Needs the permission `notifications:write`.
   */
  readonly askEmailRecipientAgain: {
    readonly path: { readonly configId: string }
    readonly answer: EmailRecipient
  }

  /**
   * See which alerts rules would have raised.
   *
   * Runs rules over the readings that are stored, up to a million, and saves nothing. Without
   * rules those of the stream are run.
   *
   * Needs the permission `data:read`.
   */
  readonly backtestAlerts: {
    readonly path: { readonly streamId: string }
    readonly body: {
      /** Included. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly start: string | number

      /** Excluded. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly end: string | number

      /** A list of rules, or rules by field, as `alertThresholds` of `processing` has them. */
      readonly rules?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined
    }
    readonly answer: {
      readonly streamId: string
      readonly start: string
      readonly end: string

      /** Readings that the rules were run over. */
      readonly readings: number

      /** Alerts that there would have been. */
      readonly count: number

      /** The first of them. */
      readonly alerts: readonly BacktestAlert[]

      /**
       * Against all rules that hold for the stream; those for many streams go on in any case. Null
       * where these are the ones that were run.
       */
      readonly diff: {
        readonly both: readonly {
          readonly ruleId: string
          readonly severity: 'info' | 'warning' | 'critical'
          readonly triggeredAt: string

          /** Null where it goes on at the end. */
          readonly clearedAt: string | null
        }[]
        readonly onlyProposed: readonly {
          readonly ruleId: string
          readonly severity: 'info' | 'warning' | 'critical'
          readonly triggeredAt: string

          /** Null where it goes on at the end. */
          readonly clearedAt: string | null
        }[]
        readonly onlyCurrent: readonly {
          readonly ruleId: string
          readonly severity: 'info' | 'warning' | 'critical'
          readonly triggeredAt: string

          /** Null where it goes on at the end. */
          readonly clearedAt: string | null
        }[]
      } | null
    }
  }

  /**
   * Cancel a backup that is running; what there is of it is removed.
   *
   * A backup that has ended stays as it is. Repeating it changes nothing.
   *
   * Needs the permission `platform:admin`.
   */
  readonly cancelBackup: { readonly path: { readonly backupId: string }; readonly answer: Backup }

  /**
   * End an export before it has written all.
   *
   * Its finished files stay, and it can be resumed. One that has ended already is answered as
   * it is.
   *
   * Needs the permission `data:read`.
   */
  readonly cancelExport: { readonly path: { readonly exportId: string }; readonly answer: Export }

  /**
   * End an import before it has come to the end of its file.
   *
   * What is stored stays, and it can be resumed. One that has ended already is answered as it
   * is.
   *
   * Needs the permission `data:write`.
   */
  readonly cancelImport: { readonly path: { readonly importId: string }; readonly answer: Import }

  /**
   * Change an alert rule for many streams.
   *
   * Needs the permission `streams:write`.
   */
  readonly changeAlertRule: {
    readonly path: { readonly alertRuleId: string }
    readonly body: FleetAlertRuleChange
    readonly answer: FleetAlertRule
  }

  /**
   * Change a webhook.
   *
   * What is not sent keeps its value.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly changeBearerWebhook: {
    readonly path: { readonly webhookId: string }
    readonly body: BearerWebhookChange
    readonly answer: BearerWebhook
  }

  /**
   * Change a device; what is not sent stays.
   *
   * Its sessions end, and begin again with its new rights.
   *
   * Needs the permission `keys:admin`.
   */
  readonly changeDevice: {
    readonly path: { readonly deviceId: string }
    readonly body: ChangedDevice
    readonly answer: Device
  }

  /**
   * Switch an address on or off, or change of which alerts it is notified.
   *
   * What is not sent keeps its value. ACTIVE begins again with no failures, and is for
   * addresses that were confirmed.
   *
   * Needs the permission `notifications:write`.
   */
  readonly changeEmailRecipient: {
    readonly path: { readonly configId: string }
    readonly body: EmailRecipientChange
    readonly answer: EmailRecipient
  }

  /**
   * Change a fleet.
   *
   * What is not sent stays. Another definition, or other tags, are the next version of the
   * fleet. New devices get it at once; the streams that exist get it one after the other, and
   * `change` of `GET /fleets/{fleetId}` shows how far that is. Each reading is judged by the
   * version that its stream has then. With `If-Match` the fleet is changed only while it has
   * that version.
   *
   * Needs the permission `streams:write`.
   */
  readonly changeFleet: {
    readonly path: { readonly fleetId: string }
    readonly body: FleetChange
    readonly answer: Fleet
  }

  /**
   * Change what the MQTT clients of a key do on topics that are not its own.
   *
   * Its sessions end, and begin again with its new rights.
   *
   * Needs the permission `keys:admin`.
   */
  readonly changeKey: {
    readonly path: { readonly keyId: string }
    readonly body: ChangedKey
    readonly answer: Key
  }

  /**
   * Change of what you are notified.
   *
   * Each level is merged by itself, and so is each category and event in it.
   *
   * Needs the permission `notifications:write`.
   */
  readonly changeNotificationPreferences: {
    readonly body: NotificationPreferencesChange
    readonly answer: NotificationPreferences
  }

  /**
   * Change what a user may do with an asset stream, or for how long.
   *
   * What is not sent keeps its value. It counts from the next request on.
   *
   * Needs the permission `streams:write`.
   */
  readonly changeStreamPermission: {
    readonly path: { readonly streamId: string; readonly permissionId: string }
    readonly body: PermissionChange
    readonly answer: StreamPermission
  }

  /**
   * Change a template.
   *
   * What is not sent keeps its value.
   *
   * Needs the permission `vaults:write`.
   */
  readonly changeTemplate: {
    readonly path: { readonly templateId: string }
    readonly body: TemplateChange
    readonly answer: Template
  }

  /**
   * Change a vault.
   *
   * What is not sent keeps its value. Template, ledger and payload are what gets anchored:
   * they stay. A permission to WRITE is enough, but for `public`.
   *
   * Needs the permission `vaults:write`.
   */
  readonly changeVault: {
    readonly path: { readonly vaultId: string }
    readonly body: VaultChange
    readonly answer: Vault
  }

  /**
   * Change what a user may do with a vault, or for how long.
   *
   * What is not sent keeps its value. It counts from the next request on.
   *
   * Needs the permission `vaults:write`.
   */
  readonly changeVaultPermission: {
    readonly path: { readonly vaultId: string; readonly permissionId: string }
    readonly body: PermissionChange
    readonly answer: VaultPermission
  }

  /**
   * Change how long the data of the streams of a vault is kept.
   *
   * What is not sent stays; null takes it away. It holds for what is stored already: what is
   * too old is removed soon, and cannot be brought back.
   *
   * Needs the permission `vaults:write`.
   */
  readonly changeVaultRetention: {
    readonly path: { readonly vaultId: string }
    readonly body: VaultRetentionChange
    readonly answer: VaultRetention
  }

  /**
   * Change a webhook.
   *
   * What is not sent keeps its value. ACTIVE begins again with no failures; with any other
   * status nothing that waits is sent any more.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly changeWebhook: {
    readonly path: { readonly configId: string }
    readonly body: WebhookChange
    readonly answer: Webhook
  }

  /**
   * See whether a URL may be registered, and where it leads to.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly checkDestination: {
    readonly body: DestinationQuestion
    readonly answer: {
      readonly allowed: boolean
      readonly reason: string | null

      /** What to do about the reason, for people. */
      readonly remedy: string | null

      /** Private ones that a name resolves to are left out. */
      readonly addresses: readonly string[]
    }
  }

  /**
   * Try a source before a stream is made of it.
   *
   * Connects to where the source leads, fetches a sample and lets go again: nothing is kept,
   * and the other side learns that nothing was. With a `schema` the readings of the sample are
   * judged by it, without one a definition is proposed. That the other side cannot be reached,
   * or refuses, is an answer too: see `reached` and `problem`.
   *
   * Needs the permission `streams:write`.
   */
  readonly checkSource: {
    readonly body: {
      readonly type: string
      readonly source: Source
      readonly schema?: Readonly<Record<string, Field>> | undefined
    }
    readonly answer: {
      /** Whether the other side has answered. */
      readonly reached: boolean

      /** What kept the try from coming to its end. */
      readonly problem?: string | undefined

      /** What to do about the problem, for people. */
      readonly remedy?: string | undefined

      /** That came; the first 20 are looked at. */
      readonly messages: number
      readonly samples: readonly {
        /** Where it came from. */
        readonly source: string

        /** Its first 1,000 characters. */
        readonly payload: string
        readonly bytes: number
      }[]

      /** Messages that cannot be taken apart. */
      readonly problems: readonly { readonly index: number; readonly message: string }[]

      /** What the schema says of the first 20 readings. */
      readonly readings?:
        | readonly {
            readonly status: 'accepted' | 'refused'
            readonly reason?: string | undefined
            readonly message?: string | undefined
            readonly remedy?: string | undefined
            readonly details?: readonly ErrorDetail[] | undefined
          }[]
        | undefined
      readonly proposal?:
        | {
            readonly type: string

            /** Without its secrets. */
            readonly source: Readonly<Record<string, unknown>>
            readonly schema: Readonly<Record<string, Field>>
          }
        | undefined

      /** What was left out of the schema, and why. */
      readonly notes?: readonly ErrorDetail[] | undefined

      /** Readings that such a stream would refuse, and why. */
      readonly misfits?:
        | readonly {
            readonly index: number
            readonly error: string
            readonly message: string
            readonly remedy: string
            readonly details: readonly ErrorDetail[]
          }[]
        | undefined
    }
  }

  /**
   * End an alert by hand: it begins again only when its rule was not broken meanwhile.
   *
   * Needs the permission `data:write`.
   */
  readonly clearAlert: {
    readonly path: { readonly alertId: string }
    readonly body?: { readonly comment?: string | undefined } | null
    readonly answer: Alert
  }

  /**
   * Delete refused readings of a data stream.
   *
   * All of them, or those that the parameters choose. They are counted as discarded.
   *
   * Needs the permission `data:write`.
   */
  readonly clearQuarantine: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      /** A comma list of ids; every entry when absent. */
      readonly ids?: string | undefined

      /** A comma list of reasons; every reason when absent. */
      readonly reason?: string | undefined

      /**
       * Received then or later. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly start?: string | undefined

      /**
       * Received before then. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | undefined
    }
    readonly answer: undefined
  }

  /**
   * Write something down in the history of an alert.
   *
   * Needs the permission `data:write`.
   */
  readonly commentAlert: {
    readonly path: { readonly alertId: string }
    readonly body: { readonly comment: string }
    readonly answer: Alert
  }

  /**
   * Count your notifications that are not read.
   *
   * Needs the permission `notifications:read`.
   */
  readonly countUnreadInboxEntries: {
    readonly answer: {
      /** Of the complete inbox, for any page or filter. */
      readonly unread_count: number
    }
  }

  /**
   * Make a key for an account on a network, or bring one along.
   *
   * Needs the permission `platform:admin`.
   */
  readonly createAccountKey: {
    readonly body: {
      readonly ledger: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM'

      /** `issuer` signs; `distributor`, of XRPL only, is where assets come from. */
      readonly role?: 'issuer' | 'distributor' | undefined

      /**
       * A key that there is already: a seed for XRPL, else a private key in hexadecimal. It is
       * shown never again.
       */
      readonly secret?: string | undefined
    }
    readonly answer: LedgerKey
  }

  /**
   * Have one alert rule for all streams of a vault, or with some tags, present and future.
   *
   * Needs the permission `streams:write`.
   */
  readonly createAlertRule: { readonly body: NewFleetAlertRule; readonly answer: FleetAlertRule }

  /**
   * Issue the asset of an asset stream.
   *
   * All of it is issued at once, and never more, by the owner of the stream alone. A stream
   * has one asset; where that has failed, another one can be made.
   *
   * Needs the permission `streams:write`.
   */
  readonly createAsset: {
    readonly path: { readonly streamId: string }
    readonly body: NewAsset
    readonly answer: Asset
  }

  /**
   * Attach a file, or the files of an archive, to an asset stream.
   *
   * The answer has the address that takes the file: `curl -T FILE "$presigned_url"`. It is
   * good for 15 minutes; reading the attachment gives a fresh one. An attachment belongs to
   * the owner of its asset stream; a permission to WRITE is enough to make it.
   *
   * Needs the permission `attachments:write`.
   */
  readonly createAttachment: { readonly body: NewAttachment; readonly answer: Attachment }

  /**
   * Begin a backup of the complete service, while it runs.
   *
   * One at a time. The master key is only in it when `withMasterKey` asks for it: without that
   * key no secret can be checked after a restore.
   *
   * Needs the permission `platform:admin`.
   */
  readonly createBackup: { readonly body: NewBackup; readonly answer: Backup }

  /**
   * Register an endpoint, also for events of the token interface.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly createBearerWebhook: { readonly body: NewBearerWebhook; readonly answer: BearerWebhook }

  /**
   * Add a credential to a user; no secret is taken.
   *
   * Needs the permission `keys:admin`.
   */
  readonly createCredential: {
    readonly path: { readonly userId: string }
    readonly body: NewCredential
    readonly answer: Credential
  }

  /**
   * Make credentials for a device; their secret is shown this once.
   *
   * A device sends readings of its own streams, over MQTT and HTTP, and can do nothing else.
   *
   * Needs the permission `keys:admin`.
   */
  readonly createDevice: { readonly body: NewDevice; readonly answer: DeviceWithSecret }

  /**
   * Make credentials for many devices at once, as JSON or as CSV.
   *
   * At most 1000. All are made, or none; then every line that is wrong is named. With `Accept:
   * text/csv` the answer is a table, too. In JSON each may have `streamName` in place of
   * `streamIds`.
   *
   * Needs the permission `keys:admin`.
   */
  readonly createDevices: {
    readonly body?: readonly NewDevice[]
    readonly rawType: 'text/csv'
    readonly answer: { readonly devices: readonly DeviceWithSecret[] }
  }

  /**
   * Add an address that is notified of events by mail; it is sent a link that confirms it.
   *
   * A user has five addresses at most, each once; those that are DISABLED count.
   *
   * Needs the permission `notifications:write`.
   */
  readonly createEmailRecipient: {
    readonly body: NewEmailRecipient
    readonly answer: EmailRecipient
  }

  /**
   * Add an entity to a user.
   *
   * Needs the permission `keys:admin`.
   */
  readonly createEntity: {
    readonly path: { readonly userId: string }
    readonly body: NewEntity
    readonly answer: Entity
  }

  /**
   * Write the readings of data streams into files, in the background.
   *
   * Of all your streams, or of those that meet all of `streamIds`, `vaultId`, `fleetId`,
   * `name` and `tags`. Each stream gets one file or more.
   *
   * Needs the permission `data:read`.
   */
  readonly createExport: {
    readonly body: {
      readonly streamIds?: readonly string[] | undefined
      readonly vaultId?: string | undefined

      /** Streams of the devices of this fleet. */
      readonly fleetId?: string | undefined

      /** The full name, or its beginning and `*`; case makes no difference. */
      readonly name?: string | undefined

      /** Streams that have all of these tags. */
      readonly tags?: Readonly<Record<string, string>> | undefined

      /** Included. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly start?: string | number | undefined

      /**
       * Excluded; what can be stored by now when absent. RFC 3339, `now`, `-24h`, or a number
       * since 1970 (docs/queries.md#times).
       */
      readonly end?: string | number | undefined

      /**
       * `raw`: the readings as they are stored; `window`: the windows of streams that have some;
       * else `minutely`, `hourly`, `daily`, `weekly` (from Monday), `monthly`, or a duration such
       * as `30s`, `15m`, `6h` or `1d`.
       */
      readonly aggregation?: string | undefined

      /**
       * The time zone (IANA) whose clocks hours, days, weeks and months follow. Answers stay in
       * UTC.
       */
      readonly tz?: string | undefined

      /**
       * All when absent. Each may name a function: `temperature:max`. avg (default for numbers),
       * latest (default for the rest), last, first, min, max, sum, count, stddev, p50, p95, p99.
       */
      readonly fields?: readonly string[] | undefined
      readonly format: 'parquet' | 'csv' | 'ndjson'
    }
    readonly answer: Export
  }

  /**
   * Add a favorite.
   *
   * Needs the permission `vaults:write`.
   */
  readonly createFavorite: {
    readonly path: { readonly userId: string }
    readonly body: NewFavorite
    readonly answer: Favorite
  }

  /**
   * Create a fleet.
   *
   * One definition for the data streams of many devices. The first message of a device makes
   * its stream; later ones go there. A level `{device}` of the topic names the device, or
   * `source.deviceField`, or the address `POST /fleets/{fleetId}/devices/{device}/data`.
   *
   * Needs the permission `streams:write`.
   */
  readonly createFleet: { readonly body: NewFleet; readonly answer: Fleet }

  /**
   * Make a key; its secret is shown this once.
   *
   * Needs the permission `keys:admin`.
   */
  readonly createKey: { readonly body: NewKey; readonly answer: KeyWithSecret }

  /**
   * Make a key that new devices of a vault register themselves with.
   *
   * Its secret is shown this once. The key registers devices, and can do nothing else.
   *
   * Needs the permission `keys:admin`.
   */
  readonly createProvisioningKey: {
    readonly path: { readonly vaultId: string }
    readonly body: {
      readonly name: string

      /** A new data stream without its name and vault. */
      readonly definition?: Readonly<Record<string, unknown>> | undefined

      /**
       * A fleet of the vault, in place of `definition`. The serial of a device is its name in the
       * fleet; what has come under that name is its own.
       */
      readonly fleetId?: string | undefined
      readonly devicesMax: number
      readonly registrationsPerMinute?: number | undefined

      /** Readings a second over time, and how many may come at once. */
      readonly rateLimit?:
        | { readonly readingsPerSecond: number; readonly burst: number }
        | undefined

      /**
       * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
       * subscriptions and its messages, and drops them.
       */
      readonly foreignTopics?: 'refuse' | 'ignore' | undefined
      readonly expiresAt?: string | null | undefined
    }
    readonly answer: ProvisioningKeyWithSecret
  }

  /**
   * Sign the content of an attachment.
   *
   * With `{}` the service signs, once the content is there. A signature that is brought along
   * is checked against the content, now or when that comes. See docs/signatures.md for the
   * text that is signed.
   *
   * Needs the permission `attachments:write`.
   */
  readonly createSignature: {
    readonly path: { readonly attachmentId: string }
    readonly body: NewSignature
    readonly answer: Signature
  }

  /**
   * Create a data stream for a topic that leads nowhere, as its messages suggest.
   *
   * Its definition is what `POST /streams/infer` would propose of the newest messages of the
   * topic. Messages that came before are not in it. A device sends to it once it is among its
   * streams.
   *
   * Needs the permission `streams:write`.
   */
  readonly createStreamOfTopic: {
    readonly body: NewStreamOfTopic
    readonly answer:
      | {
          readonly proposal: {
            readonly type: 'iot_sensor'
            readonly source: Readonly<Record<string, unknown>>
            readonly schema: Readonly<Record<string, Field>>
          }

          /** How many samples or messages there were. */
          readonly samples: number

          /** What was left out of the schema, and why; and what the samples do not show. */
          readonly notes: readonly ErrorDetail[]

          /** Samples or messages that the stream would refuse, and why. */
          readonly misfits: readonly {
            readonly index: number
            readonly error: string
            readonly message: string
            readonly remedy: string
            readonly details: readonly ErrorDetail[]
          }[]
        }
      | DataStream
  }

  /**
   * Create many data streams at once.
   *
   * One definition for many streams, or one for each: at most 1,000. All are made, or none.
   * Tags of the definition are given to each of its streams.
   *
   * Needs the permission `streams:write`.
   */
  readonly createStreams: {
    readonly body:
      | {
          /** A new data stream without its name. */
          readonly definition: Readonly<Record<string, unknown>>
          readonly streams: readonly {
            readonly name: string

            /** Texts to find the stream by: at most 32. */
            readonly tags?: Readonly<Record<string, string>> | undefined
          }[]
        }
      | { readonly definitions: readonly NewDataStream[] }
    readonly answer: {
      /** In the order of the request. */
      readonly streamIds: readonly string[]
      readonly streams: readonly DataStream[]
    }
  }

  /**
   * Create a template.
   *
   * Needs the permission `vaults:write`.
   */
  readonly createTemplate: { readonly body: NewTemplate; readonly answer: Template }

  /**
   * Create a user.
   *
   * Needs the permission `platform:admin`.
   */
  readonly createUser: { readonly body: NewUser; readonly answer: User }

  /**
   * Create a vault from a template.
   *
   * Needs the permission `vaults:write`.
   */
  readonly createVault: { readonly body: NewVault; readonly answer: Vault }

  /**
   * Register an endpoint that is notified of events.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly createWebhook: { readonly body: NewWebhook; readonly answer: Webhook }

  /**
   * Delete an alert rule for many streams, which ends its alerts.
   *
   * Needs the permission `streams:write`.
   */
  readonly deleteAlertRule: {
    readonly path: { readonly alertRuleId: string }
    readonly answer: undefined
  }

  /**
   * Delete an attachment with its files.
   *
   * Needs the permission `attachments:write`.
   */
  readonly deleteAttachment: {
    readonly path: { readonly attachmentId: string }
    readonly answer: undefined
  }

  /**
   * Delete a webhook; nothing is sent to it any more.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly deleteBearerWebhook: {
    readonly path: { readonly webhookId: string }
    readonly answer: undefined
  }

  /**
   * Remove a credential of a user.
   *
   * Needs the permission `keys:admin`.
   */
  readonly deleteCredential: {
    readonly path: { readonly userId: string; readonly partId: string }
    readonly answer: undefined
  }

  /**
   * Delete a device: its tokens and sessions end at once. Its readings stay.
   *
   * Needs the permission `keys:admin`.
   */
  readonly deleteDevice: {
    readonly path: { readonly deviceId: string }
    readonly answer: undefined
  }

  /**
   * Remove an address; nothing is sent to it any more.
   *
   * Needs the permission `notifications:write`.
   */
  readonly deleteEmailRecipient: {
    readonly path: { readonly configId: string }
    readonly answer: undefined
  }

  /**
   * Remove an entity of a user.
   *
   * Needs the permission `keys:admin`.
   */
  readonly deleteEntity: {
    readonly path: { readonly userId: string; readonly partId: string }
    readonly answer: undefined
  }

  /**
   * Remove an export with its files.
   *
   * Needs the permission `data:read`.
   */
  readonly deleteExport: {
    readonly path: { readonly exportId: string }
    readonly answer: undefined
  }

  /**
   * Remove a favorite.
   *
   * Needs the permission `vaults:write`.
   */
  readonly deleteFavorite: {
    readonly path: { readonly userId: string; readonly favoriteId: string }
    readonly answer: undefined
  }

  /**
   * Delete a fleet, with or without its streams.
   *
   * It is gone at once, and messages on its topic lead to no stream. Its streams become
   * ordinary streams one after the other: they keep their readings, and lose the topic, which
   * was that of the fleet. With `streams=delete` they are deleted instead.
   *
   * Needs the permission `streams:write`.
   */
  readonly deleteFleet: {
    readonly path: { readonly fleetId: string }
    readonly query?: {
      /**
       * `keep`: its streams become ordinary ones, without the topic. `delete`: they are deleted
       * with all of their readings.
       */
      readonly streams?: 'keep' | 'delete' | undefined
    }
    readonly answer: undefined
  }

  /**
   * Remove an import with its file.
   *
   * What is stored stays.
   *
   * Needs the permission `data:write`.
   */
  readonly deleteImport: {
    readonly path: { readonly importId: string }
    readonly answer: undefined
  }

  /**
   * Delete an entry.
   *
   * If the event that it stood for happens again, there is a new notification.
   *
   * Needs the permission `notifications:write`.
   */
  readonly deleteInboxEntry: {
    readonly path: { readonly notificationId: string }
    readonly answer: undefined
  }

  /**
   * Delete one refused reading. It is counted as discarded.
   *
   * Needs the permission `data:write`.
   */
  readonly deleteQuarantineEntry: {
    readonly path: {
      readonly streamId: string

      /** Offset of the reading in the journal. */
      readonly entryId: number
    }
    readonly answer: undefined
  }

  /**
   * Delete a data stream with all of its readings, or an asset stream.
   *
   * **With a bearer token:** A data stream. It is gone at once, and its vault is free. Its
   * data is removed in the background; `GET /streams/{streamId}/deletion` says when that is
   * done.
   *
   * **With a key:** An asset stream that no vault lists, nothing is attached to, and no asset
   * is issued of.
   *
   * Needs the permission `streams:write`.
   */
  readonly deleteStream: {
    readonly path: { readonly streamId: string }
    readonly answer: undefined
  }

  /**
   * Delete a template.
   *
   * One that no vault was made from.
   *
   * Needs the permission `vaults:write`.
   */
  readonly deleteTemplate: {
    readonly path: { readonly templateId: string }
    readonly answer: undefined
  }

  /**
   * Delete a user.
   *
   * The keys end at once, and the profile is erased; what the user owned is hidden.
   *
   * Needs the permission `platform:admin`.
   */
  readonly deleteUser: { readonly path: { readonly userId: string }; readonly answer: undefined }

  /**
   * Delete a vault.
   *
   * One without data streams and fleets.
   *
   * Needs the permission `vaults:write`.
   */
  readonly deleteVault: { readonly path: { readonly vaultId: string }; readonly answer: undefined }

  /**
   * Delete a webhook; nothing is sent to it any more.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly deleteWebhook: {
    readonly path: { readonly configId: string }
    readonly answer: undefined
  }

  /**
   * Refuse the messages of a device.
   *
   * From the answer on. Its stream stays. A name that nothing has come from yet can be denied,
   * too.
   *
   * Needs the permission `streams:write`.
   */
  readonly denyFleetDevice: {
    readonly path: {
      readonly fleetId: string

      /** The name that its messages have. */
      readonly device: string
    }
    readonly answer: FleetDevice
  }

  /**
   * Load one file of an attachment.
   *
   * By its place in `files`, from 0. With `Range: bytes=...` (one range) a part of it.
   *
   * Needs the permission `attachments:read`.
   */
  readonly downloadAttachedFile: {
    readonly path: {
      readonly attachmentId: string

      /** From 0. */
      readonly index: string
    }
    readonly answer: Uint8Array
  }

  /**
   * Load the file of an attachment, or all of its files as an archive.
   *
   * With `Range: bytes=...` (one range) a part of it.
   *
   * Needs the permission `attachments:read`.
   */
  readonly downloadAttachment: {
    readonly path: { readonly attachmentId: string }
    readonly answer: Uint8Array
  }

  /**
   * Download a file that an export has written.
   *
   * With `Range: bytes=...` (one range) a part of it; `ETag` is its SHA-256, and counts for
   * `If-Range`.
   *
   * Needs the permission `data:read`.
   */
  readonly downloadExportFile: {
    readonly path: { readonly exportId: string; readonly name: string }
    readonly answer: Uint8Array | string
  }

  /**
   * Load the files of a template, as an archive.
   *
   * Needs the permission `vaults:read`.
   */
  readonly downloadTemplateBundle: {
    readonly path: { readonly templateId: string }
    readonly answer: Uint8Array
  }

  /**
   * Load the image of a template.
   *
   * Needs the permission `vaults:read`.
   */
  readonly downloadTemplateImage: {
    readonly path: { readonly templateId: string }
    readonly answer: Uint8Array
  }

  /**
   * Load a user's picture.
   *
   * The address, with its signature, is the only credential: it is `image_download_url` of the
   * user, and good for 15 minutes.
   */
  readonly downloadUserPicture: {
    readonly path: { readonly userId: string }
    readonly query?: {
      /** Seconds since the Unix epoch. */
      readonly expires?: string | undefined

      /** Of method, path, time and limit. */
      readonly signature?: string | undefined
    }
    readonly answer: Uint8Array
  }

  /**
   * Load the image of a vault: its own, or else its template's.
   *
   * Needs the permission `vaults:read`.
   */
  readonly downloadVaultImage: {
    readonly path: { readonly vaultId: string }
    readonly answer: Uint8Array
  }

  /**
   * End a session of the console that was made with this key.
   *
   * With `keys:admin` one of any key of the user.
   *
   * Needs no particular permission.
   */
  readonly endConsoleSession: {
    readonly path: { readonly consoleSessionId: string }
    readonly answer: undefined
  }

  /**
   * End an MQTT session and its connection; what waits in it is gone.
   *
   * Its client can connect again, as its credentials stay. A will is published, as when a
   * network breaks.
   *
   * Needs the permission `data:write`.
   */
  readonly endMqttSession: {
    readonly path: { readonly clientId: string }
    readonly query?: {
      /** The device, for a client that is one. */
      readonly deviceId?: string | undefined
    }
    readonly answer: undefined
  }

  /**
   * Explain an alert: which reading moved it when, and what was delivered of it.
   *
   * The newest 100 steps, each with the deliveries that followed; and what the rule waits for
   * now.
   *
   * Needs the permission `data:read`.
   */
  readonly explainAlert: {
    readonly path: { readonly alertId: string }
    readonly answer: {
      readonly alert: Alert
      readonly now: {
        readonly state: 'ok' | 'pending' | 'firing' | 'acknowledged' | 'cleared'

        /** Since when the rule is broken. */
        readonly since: string | null

        /** Since when it is no longer broken. */
        readonly clearSince: string | null

        /** When something happens although no reading comes, by the clock of the service. */
        readonly dueAt: string | null
      }

      /** Of the stream: older readings move nothing. */
      readonly alertTime: string | null

      /** Readings of the stream that came too late. */
      readonly lateForAlerts: number
      readonly steps: readonly {
        readonly sentence: string
        readonly step: {
          readonly step: number
          readonly cause:
            | 'reading'
            | 'timer'
            | 'person'
            | 'definition'
            | 'acknowledge'
            | 'comment'
            | 'mute'
            | 'unmute'
            | 'clear'
          readonly from: 'ok' | 'pending' | 'firing' | 'acknowledged' | 'cleared'
          readonly to: 'ok' | 'pending' | 'firing' | 'acknowledged' | 'cleared'

          /** Alert time: that of the readings. */
          readonly at: string

          /** When the entry was received that it follows from. */
          readonly receivedAt: string

          /** Of that entry in the journal. */
          readonly offset: number
          readonly value: number | string | boolean | null
          readonly threshold: number | string | boolean | null

          /** The fields of the reading, where one was the cause. */
          readonly reading: Readonly<Record<string, unknown>> | null
          readonly userId: string | null
          readonly comment: string | null
          readonly mutedUntil: string | null

          /** The event that was sent. */
          readonly eventId: string | null
        }
        readonly told: boolean
        readonly deliveries: readonly {
          readonly deliveryId: string

          /** Where it was sent, or else: */
          readonly webhookId: string | null

          /** The address that it was mailed to. */
          readonly recipientId: string | null
          readonly state: string
          readonly attempts: number
          readonly lastAttemptAt: string | null
        }[]
      }[]
    }
  }

  /**
   * See why an event was delivered to a webhook, or was not.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly explainDelivery: {
    readonly path: { readonly configId: string }
    readonly query: { readonly eventId: string }
    readonly answer: {
      readonly event_id: string
      readonly outcome:
        | 'delivered'
        | 'pending'
        | 'failed'
        | 'cancelled'
        | 'not_sent'
        | 'unknown_event'
      readonly attempts: number
      readonly checks: readonly {
        readonly check: string
        readonly passed: boolean
        readonly message: string
      }[]
    }
  }

  /**
   * Say to which channels a type of events goes, and which level decides.
   *
   * The last level is who receives it: without a mail server or an address that is ACTIVE
   * nothing is mailed.
   *
   * Needs the permission `notifications:read`.
   */
  readonly explainNotificationPreferences: {
    readonly query: {
      readonly event_type:
        | 'vault.created'
        | 'vault.completed'
        | 'vault.failed'
        | 'vault.error'
        | 'vault.deleted'
        | 'stream.created'
        | 'stream.completed'
        | 'stream.failed'
        | 'stream.error'
        | 'stream.deleted'
        | 'data_attachment.created'
        | 'data_attachment.completed'
        | 'data_attachment.failed'
        | 'data_attachment.deleted'
        | 'signature.created'
        | 'signature.completed'
        | 'signature.failed'
        | 'signature.error'
        | 'asset.created'
        | 'asset.deployed'
        | 'asset.error'
        | 'vault.permission.granted'
        | 'vault.permission.revoked'
        | 'vault.permission.updated'
        | 'stream.permission.granted'
        | 'stream.permission.revoked'
        | 'stream.permission.updated'
        | 'vault.updated'
        | 'stream.updated'
        | 'data_attachment.updated'
        | 'data_attachment.received'
        | 'signature.updated'
        | 'asset.updated'
        | 'vault.data_updated'
        | 'vault.permission_changed'
        | 'vault.verification_complete'
        | 'vault.accessed'
        | 'stream.data_received'
        | 'stream.alert_triggered'
        | 'stream.alert_cleared'
        | 'security.key_created'
        | 'security.key_revoked'
        | 'security.webhook_disabled'
        | 'security.email_disabled'
        | 'security.ledger_funds_low'
    }
    readonly answer: {
      readonly event_type: string
      readonly category: string
      readonly channels: {
        readonly email: {
          readonly delivered: boolean
          readonly levels: readonly {
            readonly level: 'type' | 'global' | 'category' | 'event' | 'receivers'
            readonly allows: boolean
            readonly reason: string
          }[]
        }
        readonly in_app: {
          readonly delivered: boolean
          readonly levels: readonly {
            readonly level: 'type' | 'global' | 'category' | 'event' | 'receivers'
            readonly allows: boolean
            readonly reason: string
          }[]
        }
        readonly push: {
          readonly delivered: boolean
          readonly levels: readonly {
            readonly level: 'type' | 'global' | 'category' | 'event' | 'receivers'
            readonly allows: boolean
            readonly reason: string
          }[]
        }
      }
      readonly webhooks: { readonly delivered: boolean; readonly reason: string }
    }
  }

  /**
   * Take metrics of OpenTelemetry.
   *
   * An ExportMetricsServiceRequest of OTLP, in Protobuf or JSON. Each data point is a reading
   * of the device that the attribute `source.deviceField` of the fleet names. `fleet`,
   * `bucket` or `db` names the fleet. 200 means that all points are on disk that
   * `partialSuccess` does not count as rejected; those are in the quarantine of their streams.
   *
   * Needs the permission `data:write`.
   */
  readonly exportMetrics: {
    readonly query?: {
      /** Names a fleet by its id or its name. */
      readonly fleet?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly bucket?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly db?: string | undefined
    }
    readonly body?: Readonly<Record<string, unknown>>
    readonly rawType: 'application/x-protobuf'
    readonly answer: Readonly<Record<string, unknown>>
  }

  /**
   * Follow the inbox as it grows.
   *
   * Server-Sent Events of the name `notification`, each an entry as the list shows it. A
   * client that comes back with `Last-Event-ID` gets what came meanwhile, each once.
   *
   * Needs the permission `notifications:read`.
   */
  readonly followInbox: { readonly answer: never }

  /**
   * Forget what MQTT messages led nowhere, of one topic or of all.
   *
   * Needs the permission `data:write`.
   */
  readonly forgetUnroutedTopics: {
    readonly query?: {
      /** Only this one; all when it is left out. */
      readonly topic?: string | undefined
    }
    readonly answer: undefined
  }

  /**
   * Read how far a backup has come, or what it holds.
   *
   * Needs the permission `platform:admin`.
   */
  readonly getBackup: { readonly path: { readonly backupId: string }; readonly answer: Backup }

  /**
   * See how far an export is, and what it has written.
   *
   * Needs the permission `data:read`.
   */
  readonly getExport: {
    readonly path: { readonly exportId: string }
    readonly answer: ExportWithFiles
  }

  /**
   * See how far an import is, and which rows were refused.
   *
   * Needs the permission `data:read`.
   */
  readonly getImport: { readonly path: { readonly importId: string }; readonly answer: Import }

  /**
   * Share an asset stream with a user, and what is attached to it.
   *
   * READ lets the user see it, and WRITE change it, until the permission ends. A user can have
   * one, which is changed by PUT.
   *
   * Needs the permission `streams:write`.
   */
  readonly grantStreamPermission: {
    readonly path: { readonly streamId: string }
    readonly body: NewPermission
    readonly answer: StreamPermission
  }

  /**
   * Share a vault with a user.
   *
   * READ lets the user see it, and WRITE change it, until the permission ends. A user can have
   * one, which is changed by PUT.
   *
   * Needs the permission `vaults:write`.
   */
  readonly grantVaultPermission: {
    readonly path: { readonly vaultId: string }
    readonly body: NewPermission
    readonly answer: VaultPermission
  }

  /**
   * Bring the rows of a file into a data stream, in the background.
   *
   * CSV with a head, NDJSON, or Parquet, as the content type says. Each row needs a time of
   * its own; it is judged like a reading that was sent, and moves no alert. 202 means that the
   * file is on disk. The same file can be imported again: nothing is stored twice.
   *
   * Needs the permission `data:write`.
   */
  readonly importReadings: {
    readonly path: { readonly streamId: string }
    readonly rawType: 'text/csv' | 'application/x-ndjson' | 'application/vnd.apache.parquet'
    readonly answer: Import
  }

  /**
   * Propose the definition of a stream from what a device sends.
   *
   * Takes messages with their topics, and finds where in them readings, fields and times are.
   * The proposal takes every message that is not named under misfits, and the next ones of the
   * device, too: it has no limits that are only those of the samples. It can be sent to `POST
   * /streams` with a name and a vault. Nothing is stored. In CBOR, MessagePack, NDJSON and CSV
   * the body is what the device sends, one reading or several; the first line of CSV names its
   * columns. Of messages a payload may be in any of these formats, or one value.
   *
   * Needs the permission `streams:write`.
   */
  readonly inferStream: {
    readonly body?: {
      readonly messages?:
        | readonly {
            /** That it was published to. */
            readonly topic?: string | undefined

            /** What was sent: a text, or with the encoding `json` any value. */
            readonly payload: unknown

            /** How the payload is written here. If nothing is said, a text is `utf8` and all else `json`. */
            readonly encoding?: 'utf8' | 'base64' | 'json' | undefined
            readonly headers?: Readonly<Record<string, string>> | undefined

            /** Of a message of Kafka. */
            readonly key?: string | undefined
          }[]
        | undefined

      /** Readings, in place of messages. */
      readonly samples?: readonly unknown[] | undefined
    }
    readonly rawType:
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
      | 'text/csv'
    readonly answer: {
      readonly proposal: {
        readonly type: 'iot_sensor'
        readonly source: Readonly<Record<string, unknown>>
        readonly schema: Readonly<Record<string, Field>>
      }

      /** How many samples or messages there were. */
      readonly samples: number

      /** What was left out of the schema, and why; and what the samples do not show. */
      readonly notes: readonly ErrorDetail[]

      /** Samples or messages that the stream would refuse, and why. */
      readonly misfits: readonly {
        readonly index: number
        readonly error: string
        readonly message: string
        readonly remedy: string
        readonly details: readonly ErrorDetail[]
      }[]
    }
  }

  /** Get an access token for a key and its secret. */
  readonly issueToken: {
    readonly body: { readonly apiKey: string; readonly apiSecret: string }
    readonly answer: {
      /** A JWT. */
      readonly accessToken: string
      readonly tokenType: 'Bearer'

      /** Seconds. */
      readonly expiresIn: number

      /** Permissions, separated by spaces. */
      readonly scope: string
    }
  }

  /**
   * List the keys of the accounts on real networks.
   *
   * Needs the permission `platform:admin`.
   */
  readonly listAccountKeys: { readonly answer: readonly LedgerKey[] }

  /**
   * List one's own alert rules for many streams, in the order of their creation.
   *
   * Needs the permission `streams:read`.
   */
  readonly listAlertRules: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly FleetAlertRule[]
  }

  /**
   * List the alerts of one's own streams, newest first.
   *
   * Needs the permission `data:read`.
   */
  readonly listAlerts: {
    readonly query?: {
      readonly state?: 'pending' | 'firing' | 'acknowledged' | 'cleared' | undefined
      readonly severity?: 'info' | 'warning' | 'critical' | undefined
      readonly ruleId?: string | undefined
      readonly streamId?: string | undefined
      readonly vaultId?: string | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly Alert[]
  }

  /**
   * List the assets of an asset stream.
   *
   * The oldest first. One of them is alive at most; the others have failed.
   *
   * Needs the permission `streams:read`.
   */
  readonly listAssets: {
    readonly path: { readonly streamId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Asset[]
    }
  }

  /**
   * List one's own attachments, and those of asset streams that others share.
   *
   * Needs the permission `attachments:read`.
   */
  readonly listAttachments: {
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Attachment[]
    }
  }

  /**
   * Read what was changed that matters to security, newest first.
   *
   * Needs the permission `platform:admin`.
   */
  readonly listAuditLog: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
      readonly userId?: string | undefined
      readonly action?:
        | 'key.created'
        | 'key.changed'
        | 'key.rotated'
        | 'key.revoked'
        | 'user.created'
        | 'user.deleted'
        | 'signing_key.rotated'
        | 'content_key.rotated'
        | 'ledger_key.created'
        | 'ledger_key.imported'
        | 'device.created'
        | 'device.changed'
        | 'device.rotated'
        | 'device.revoked'
        | 'device.deleted'
        | 'provisioning_key.created'
        | 'provisioning_key.revoked'
        | 'backup.started'
        | 'webhook.created'
        | 'webhook.changed'
        | 'webhook.rotated'
        | 'webhook.deleted'
        | 'alert_rule.created'
        | 'alert_rule.changed'
        | 'alert_rule.deleted'
        | 'fleet.created'
        | 'fleet.changed'
        | 'fleet.deleted'
        | 'fleet.device_allowed'
        | 'fleet.device_denied'
        | 'fleet.device_renamed'
        | 'email.created'
        | 'email.changed'
        | 'email.deleted'
        | 'email.verified'
        | 'email.unsubscribed'
        | 'console_session.created'
        | 'console_session.ended'
        | 'permission.granted'
        | 'permission.changed'
        | 'permission.ended'
        | 'login.failed'
        | undefined
    }
    readonly answer: readonly AuditEntry[]
  }

  /**
   * List backups, newest first.
   *
   * Needs the permission `platform:admin`.
   */
  readonly listBackups: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly Backup[]
  }

  /**
   * List one's own webhooks, as the token interface shows them.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly listBearerWebhooks: {
    readonly query?: {
      /** Only webhooks with this status. */
      readonly status?: 'ACTIVE' | 'PAUSED' | 'DISABLED' | undefined

      /** Only active webhooks whose last delivery has failed. */
      readonly failing?: boolean | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly BearerWebhook[]
  }

  /**
   * List the sessions of the console that were made with this key, oldest first.
   *
   * With `keys:admin` those of all keys of the user.
   *
   * Needs no particular permission.
   */
  readonly listConsoleSessions: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly ConsoleSession[]
  }

  /**
   * Read the public keys that the service signs content with (RFC 7517).
   *
   * All that there ever were: what the retired ones have signed stays good. None of them signs
   * tokens or blocks.
   */
  readonly listContentKeys: {
    readonly answer: {
      readonly keys: readonly {
        readonly kty: 'OKP'
        readonly crv: 'Ed25519'
        readonly x: string

        /** RFC 7638 thumbprint. */
        readonly kid: string
        readonly alg: 'EdDSA'
        readonly use: 'sig'

        /** What it signs: no blocks, and no tokens. */
        readonly role: 'content'
        readonly created_at: string

        /** From then on it has signed nothing; null for the one that signs. */
        readonly retired_at: string | null
      }[]
    }
  }

  /**
   * List the attempts to deliver to a webhook, newest first.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly listDeliveries: {
    readonly path: { readonly configId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly DeliveryAttempt[]
    }
  }

  /**
   * List one's own devices.
   *
   * Needs the permission `streams:read`.
   */
  readonly listDevices: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
      readonly streamId?: string | undefined

      /** Of a stream of the device. */
      readonly vaultId?: string | undefined

      /** The full name, or its beginning and *; case makes no difference. */
      readonly name?: string | undefined

      /** A part of the name, in any case, or the beginning of the id. */
      readonly contains?: string | undefined
      readonly state?: 'active' | 'expired' | 'revoked' | undefined
    }
    readonly answer: readonly Device[]
  }

  /**
   * List one's own addresses.
   *
   * Needs the permission `notifications:read`.
   */
  readonly listEmailRecipients: {
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly EmailRecipient[]
    }
  }

  /**
   * List one's own exports.
   *
   * Needs the permission `data:read`.
   */
  readonly listExports: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly Export[]
  }

  /**
   * List one's own favorites.
   *
   * Needs the permission `vaults:read`.
   */
  readonly listFavorites: {
    readonly path: { readonly userId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Favorite[]
    }
  }

  /**
   * List the devices of a fleet, by name.
   *
   * Needs the permission `streams:read`.
   */
  readonly listFleetDevices: {
    readonly path: { readonly fleetId: string }
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined

      /**
       * `active`: not denied. `denied`. `outdated`: its stream does not have the present version
       * of the fleet.
       */
      readonly status?: 'active' | 'denied' | 'outdated' | undefined

      /** Devices that have sent nothing for so long: a duration, such as 30s, 15m, 6h or 1d. */
      readonly silentFor?: string | undefined
    }
    readonly answer: {
      readonly devices: readonly FleetDevice[]

      /** Null on the last page. With a filter a page may have fewer devices than `limit`, or none. */
      readonly nextCursor: string | null
    }
  }

  /**
   * List one's own fleets, by name.
   *
   * Needs the permission `streams:read`.
   */
  readonly listFleets: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
      readonly vaultId?: string | undefined
    }
    readonly answer: readonly Fleet[]
  }

  /**
   * List one's own imports.
   *
   * Needs the permission `data:read`.
   */
  readonly listImports: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly Import[]
  }

  /**
   * List your notifications, newest first.
   *
   * Without what is archived or older than 30 days.
   *
   * Needs the permission `notifications:read`.
   */
  readonly listInbox: {
    readonly query?: {
      readonly page?: number | undefined
      readonly page_size?: number | undefined
      readonly unread_only?: boolean | undefined

      /** Of alerts: nothing else is listed then. */
      readonly severity?: 'info' | 'warning' | 'critical' | undefined
    }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly InboxEntry[]

      /** Of the complete inbox, for any page or filter. */
      readonly unread_count: number
    }
  }

  /**
   * List the keys of the calling user, or of another one with platform:admin.
   *
   * Needs the permission `keys:admin`.
   */
  readonly listKeys: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
      readonly userId?: string | undefined
    }
    readonly answer: readonly Key[]
  }

  /**
   * Read the public keys of the sandbox ledger (RFC 7517).
   *
   * Keep them for the checks of proofs: a proof that brings its own key proves nothing.
   */
  readonly listLedgerKeys: {
    readonly answer: {
      readonly keys: readonly {
        readonly kty: 'OKP'
        readonly crv: 'Ed25519'
        readonly x: string

        /** RFC 7638 thumbprint. */
        readonly kid: string
        readonly alg: 'EdDSA'
        readonly use: 'sig'

        /** `blocks`, `account` or `distribution`. */
        readonly role: string
      }[]
    }
  }

  /**
   * Read where each ledger is, what an anchor costs there, and whether it answers.
   *
   * What test keys make is always anchored on the sandbox.
   *
   * Needs no particular permission.
   */
  readonly listLedgers: { readonly answer: readonly LedgerInUse[] }

  /**
   * List the attempts to send mails to an address, newest first.
   *
   * Needs the permission `notifications:read`.
   */
  readonly listMailAttempts: {
    readonly path: { readonly configId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly MailAttempt[]
    }
  }

  /**
   * List one's own MQTT sessions, connected or kept, in the order of their beginning.
   *
   * Needs the permission `data:read`.
   */
  readonly listMqttSessions: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly MqttSession[]
  }

  /**
   * List the provisioning keys of a vault.
   *
   * Needs the permission `keys:admin`.
   */
  readonly listProvisioningKeys: {
    readonly path: { readonly vaultId: string }
    readonly answer: readonly ProvisioningKey[]
  }

  /** Read the public keys that access tokens are checked with (RFC 7517). */
  readonly listPublicKeys: { readonly answer: { readonly keys: readonly PublicKey[] } }

  /**
   * List the refused readings of a data stream, oldest first.
   *
   * A page ends at `limit` entries or 4 MiB of payload, whichever comes first; `nextCursor`
   * leads on.
   *
   * Needs the permission `data:read`.
   */
  readonly listQuarantine: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      /** A comma list of reasons; every reason when absent. */
      readonly reason?: string | undefined

      /**
       * Received then or later. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly start?: string | undefined

      /**
       * Received before then. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: {
      readonly streamId: string
      readonly entries: readonly QuarantineEntry[]
      readonly nextCursor: string | null
    }
  }

  /**
   * List the refused readings of all one's own data streams, newest first.
   *
   * By their receipt. A page ends at `limit` entries or 4 MiB of payload, whichever comes
   * first; `nextCursor` leads on.
   *
   * Needs the permissions `streams:read` and `data:read`.
   */
  readonly listQuarantineOfAll: {
    readonly query?: {
      /** Only entries of this stream. */
      readonly streamId?: string | undefined

      /** A comma list of reasons; every reason when absent. */
      readonly reason?: string | undefined

      /**
       * Received then or later. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly start?: string | undefined

      /**
       * Received before then. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: {
      readonly entries: readonly QuarantineEntryOfStream[]
      readonly nextCursor: string | null
    }
  }

  /**
   * List readings that the time-series server did not take, oldest first.
   *
   * They were acknowledged and are counted as `discarded`. The newest 10,000 of all streams
   * are kept. DuckDB refuses no readings.
   *
   * Needs the permission `data:read`.
   */
  readonly listRefusedReadings: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: {
      readonly streamId: string
      readonly readings: readonly RefusedReading[]
      readonly nextCursor: string | null
    }
  }

  /**
   * List the seals of a data stream, with all of their revisions, oldest stretch first.
   *
   * A seal is a root over the readings that were stored in a stretch of time, as long as
   * `processing.seal` says. The proof leads from it to a ledger.
   *
   * Needs the permission `data:read`.
   */
  readonly listSeals: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      /**
       * Stretches that end after it. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly start?: string | undefined

      /**
       * Stretches that begin before it. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: {
      readonly streamId: string
      readonly seals: readonly Seal[]

      /**
       * Stretches that are still to be sealed, or sealed again: the first hundred, on the first
       * page only.
       */
      readonly waiting: readonly {
        readonly start: string
        readonly end: string

        /** When it is sealed at the earliest. */
        readonly dueAt: string

        /** Why it could not be sealed when that was tried last: it is tried again. */
        readonly problem: { readonly error: string; readonly message: string } | null
      }[]
      readonly nextCursor: string | null
    }
  }

  /**
   * List the signatures of an attachment.
   *
   * The oldest first.
   *
   * Needs the permission `attachments:read`.
   */
  readonly listSignatures: {
    readonly path: { readonly attachmentId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Signature[]
    }
  }

  /**
   * List the alerts of a data stream, newest first.
   *
   * Needs the permission `data:read`.
   */
  readonly listStreamAlerts: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      readonly state?: 'pending' | 'firing' | 'acknowledged' | 'cleared' | undefined
      readonly severity?: 'info' | 'warning' | 'critical' | undefined
      readonly ruleId?: string | undefined

      /**
       * Alerts that were triggered then or later, or went on then, by the time of the readings.
       * RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times).
       */
      readonly start?: string | undefined

      /**
       * Alerts that were triggered before then. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly Alert[]
  }

  /**
   * List the attachments of an asset stream.
   *
   * By the code of one's own, or by the id of one that is one's own or shared.
   *
   * Needs the permission `attachments:read`.
   */
  readonly listStreamAttachments: {
    readonly path: {
      /** An asset code, or the id of an asset stream. */
      readonly streamCode: string
    }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Attachment[]
    }
  }

  /**
   * List who may do something with an asset stream.
   *
   * Oldest first, in pages, without those whose time is over.
   *
   * Needs the permission `streams:write`.
   */
  readonly listStreamPermissions: {
    readonly path: { readonly streamId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly StreamPermission[]
    }
  }

  /**
   * List the versions of a data stream, newest first.
   *
   * Needs the permission `streams:read`.
   */
  readonly listStreamVersions: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: number | undefined
    }
    readonly answer: {
      readonly streamId: string
      readonly versions: readonly DataStreamVersion[]
      readonly nextCursor: number | null
    }
  }

  /**
   * List one's own templates, or public ones.
   *
   * Needs the permission `vaults:read`.
   */
  readonly listTemplates: {
    readonly query?: {
      readonly page?: number | undefined
      readonly page_size?: number | undefined

      /** Whether to list public ones. */
      readonly public?: boolean | undefined

      /** Part of a name, in upper or lower case. */
      readonly search_term?: string | undefined

      /** `created_at` (the default) or `name`. */
      readonly sort_by?: string | undefined

      /** `asc` (the default) or `desc`. */
      readonly sort_type?: string | undefined
    }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Template[]
    }
  }

  /**
   * List the topics that MQTT messages came on and that lead nowhere, the newest first.
   *
   * Of all clients of the calling user, its devices included, since the service was started.
   * The newest 1,000, as long as there is room for them.
   *
   * Needs the permission `data:read`.
   */
  readonly listUnroutedTopics: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: readonly UnroutedTopic[]
  }

  /**
   * List all users.
   *
   * Needs the permission `platform:admin`.
   */
  readonly listUsers: {
    readonly query?: {
      readonly page?: number | undefined
      readonly page_size?: number | undefined

      /** Only the user of this name; case makes no difference. */
      readonly username?: string | undefined
    }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly User[]
    }
  }

  /**
   * List who may do something with a vault.
   *
   * Oldest first, in pages, without those whose time is over.
   *
   * Needs the permission `vaults:write`.
   */
  readonly listVaultPermissions: {
    readonly path: { readonly vaultId: string }
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly VaultPermission[]
    }
  }

  /**
   * List one's own webhooks, with their secrets.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly listWebhooks: {
    readonly query?: {
      /** Only webhooks with this status. */
      readonly status?: 'ACTIVE' | 'PAUSED' | 'DISABLED' | undefined

      /** Only active webhooks whose last delivery has failed. */
      readonly failing?: boolean | undefined
      readonly page?: number | undefined
      readonly page_size?: number | undefined
    }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Webhook[]
    }
  }

  /** Ask whether no more mails are wanted, by the link in each of them. */
  readonly lookAtUnsubscription: {
    readonly path: {
      /** From the mail. */
      readonly token: string
    }
    readonly answer: string
  }

  /** Ask whether an address is to be confirmed, by the link in the mail to it. */
  readonly lookAtVerification: {
    readonly path: {
      /** From the mail. */
      readonly token: string
    }
    readonly answer: string
  }

  /**
   * Mark one entry as read.
   *
   * Needs the permission `notifications:write`.
   */
  readonly markInboxEntryRead: {
    readonly path: { readonly notificationId: string }
    readonly answer: InboxEntry
  }

  /**
   * Mark every entry as read.
   *
   * Needs the permission `notifications:write`.
   */
  readonly markInboxRead: {
    readonly answer: {
      /** Of the complete inbox, for any page or filter. */
      readonly unread_count: number
    }
  }

  /**
   * Notify no one of what a rule finds on a stream, until a time.
   *
   * Needs the permission `data:write`.
   */
  readonly muteAlert: {
    readonly path: { readonly alertId: string }
    readonly body: { readonly until: string; readonly comment?: string | undefined }
    readonly answer: Alert
  }

  /**
   * Pause a data stream.
   *
   * From the answer on, readings over HTTP are refused with 409 `stream_paused`, and are not
   * received; readings over MQTT are kept in the quarantine. Pausing a paused stream changes
   * nothing.
   *
   * Needs the permission `streams:write`.
   */
  readonly pauseStream: {
    readonly path: { readonly streamId: string }
    readonly answer: StreamStatus
  }

  /**
   * Find out whether the service answers, as clients of InfluxDB do.
   *
   * Needs no credentials. `GET /health` says more.
   */
  readonly ping: { readonly answer: undefined }

  /**
   * See what the transform of a data stream makes of readings.
   *
   * Stores nothing. A transform that is given takes the place of that of the stream, which
   * stays as it is; with a `definition` the readings are judged as they would be after that
   * change. Where the definition says where the readings of a message are, or its fields
   * (`items`, `from`), each of the `readings` is a message, without a topic, headers and the
   * like: of one that holds several readings there are several results, one behind the other.
   *
   * Needs the permission `streams:read`.
   */
  readonly previewTransform: {
    readonly path: { readonly streamId: string }
    readonly body: {
      /** As devices send them; 1,000 readings at most, where each may hold several. */
      readonly readings: readonly unknown[]

      /** As in `processing`. */
      readonly transform?: readonly unknown[] | undefined

      /** A change of the definition to try, as `PUT /streams/{streamId}` takes it. */
      readonly definition?: Readonly<Record<string, unknown>> | undefined
    }
    readonly answer: {
      readonly streamId: string
      readonly results: readonly {
        readonly status: 'stored' | 'filtered' | 'refused'

        /** The fields after each step. */
        readonly steps: readonly Readonly<Record<string, unknown>>[]

        /** Of a refused reading; as in the quarantine. */
        readonly reason?: string | undefined
        readonly message?: string | undefined
        readonly details?: readonly ErrorDetail[] | undefined
      }[]
    }
  }

  /**
   * Push readings into a data stream.
   *
   * One reading, or an array of them: at most 4 MiB and 10,000 readings, in JSON, NDJSON,
   * CBOR, MessagePack, or a format that the source of the stream explains, as the content type
   * says; `Content-Encoding` may be gzip or zstd. 202 means that they are on disk. A refused
   * reading is kept in the quarantine of the stream. An `Idempotency-Key` gives readings
   * without a time of their own the same identity when the request is repeated. Parameters in
   * the address are taken where fields of the stream read them (`$query`).
   *
   * Needs the permission `data:write`.
   */
  readonly pushReadings: {
    readonly path: { readonly streamId: string }
    readonly body?: Reading | readonly Reading[]
    readonly rawType:
      | 'application/cloudevents+json'
      | 'application/cloudevents-batch+json'
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
      | 'text/plain'
      | 'text/csv'
      | 'application/x-www-form-urlencoded'
      | 'application/senml+json'
      | 'application/senml+cbor'
      | 'application/protobuf'
      | 'application/x-protobuf'
      | 'text/x-influx-line-protocol'
      | 'application/openmetrics-text'
    readonly answer:
      | { readonly streamId: string; readonly timestamp: string; readonly status: 'accepted' }
      | { readonly accepted: number; readonly rejected: readonly RejectedReading[] }
  }

  /**
   * Push readings of the devices of a fleet.
   *
   * One reading, or many, of any devices: each names its device in the member that
   * `source.deviceField` of the fleet says. At most 4 MiB and 10,000 readings, in JSON,
   * NDJSON, CBOR or MessagePack, in the line protocol of InfluxDB, as text or remote write of
   * Prometheus, or as metrics of OTLP. The first reading of a new device makes its stream. 202
   * means that all that were accepted are on disk.
   *
   * Needs the permission `data:write`.
   */
  readonly pushReadingsToFleet: {
    readonly path: {
      /** The id of the fleet, or its name. */
      readonly fleetId: string
    }
    readonly query?: { readonly precision?: string | undefined }
    readonly body?: DeviceReading | readonly DeviceReading[]
    readonly rawType:
      | 'application/cloudevents+json'
      | 'application/cloudevents-batch+json'
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
      | 'text/x-influx-line-protocol'
      | 'application/openmetrics-text'
    readonly answer: { readonly accepted: number; readonly rejected: readonly RejectedReading[] }
  }

  /**
   * Push readings of one device of a fleet.
   *
   * As to a data stream: the stream is that of the device, and the first reading of a new
   * device makes it.
   *
   * Needs the permission `data:write`.
   */
  readonly pushReadingsToFleetDevice: {
    readonly path: {
      /** The id of the fleet, or its name. */
      readonly fleetId: string

      /** The name of the device. */
      readonly device: string
    }
    readonly body?: Reading | readonly Reading[]
    readonly rawType:
      | 'application/cloudevents+json'
      | 'application/cloudevents-batch+json'
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
      | 'text/plain'
      | 'text/csv'
      | 'application/x-www-form-urlencoded'
      | 'application/senml+json'
      | 'application/senml+cbor'
      | 'application/protobuf'
      | 'application/x-protobuf'
      | 'text/x-influx-line-protocol'
      | 'application/openmetrics-text'
    readonly answer:
      | { readonly streamId: string; readonly timestamp: string; readonly status: 'accepted' }
      | { readonly accepted: number; readonly rejected: readonly RejectedReading[] }
  }

  /**
   * Push readings into several data streams.
   *
   * An array of readings that each name their stream: at most 4 MiB and 10,000 readings, in
   * JSON, NDJSON, CBOR or MessagePack. 202 means that all that were accepted are on disk. A
   * reading that names no stream of yours is rejected (`not_found`) and kept nowhere; any
   * other that is refused is kept in the quarantine of its stream.
   *
   * Needs the permission `data:write`.
   */
  readonly pushReadingsToStreams: {
    readonly body?: readonly AddressedReading[]
    readonly rawType:
      | 'application/cloudevents+json'
      | 'application/cloudevents-batch+json'
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
    readonly answer: { readonly accepted: number; readonly rejected: readonly RejectedReading[] }
  }

  /**
   * Aggregate the readings of many data streams at once.
   *
   * Of all your streams, or of those that meet all of `streamIds`, `vaultId`, `fleetId`,
   * `name` and `tags`: 20000 at most. Points come in the order of time, and at one time by
   * stream, device, tag or value.
   *
   * Needs the permission `data:read`.
   */
  readonly queryStreams: {
    readonly body: {
      readonly streamIds?: readonly string[] | undefined
      readonly vaultId?: string | undefined

      /** Streams of the devices of this fleet. */
      readonly fleetId?: string | undefined

      /** The full name, or its beginning and `*`; case makes no difference. */
      readonly name?: string | undefined

      /** Streams that have all of these tags. */
      readonly tags?: Readonly<Record<string, string>> | undefined

      /** Included. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly start?: string | number | undefined

      /** Excluded. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly end?: string | number | undefined

      /** `desc`: the newest first. A cursor is for the order that it was made in. */
      readonly order?: 'asc' | 'desc' | undefined

      /**
       * The time zone (IANA) whose clocks hours, days, weeks and months follow. Answers stay in
       * UTC.
       */
      readonly tz?: string | undefined

      /** What stands where a bucket has no value; anything but `none` needs start and end. */
      readonly fill?: 'none' | 'null' | 'previous' | 'linear' | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined

      /**
       * `stream`: a point for each stream and bucket; `device`: one for each device; `tag:NAME`:
       * one for each value of that tag; `field:NAME`: one for each value that this field (text,
       * integer or boolean) has in the readings, 1000 values at most; `time`: one for all of them
       * together.
       */
      readonly groupBy?: string | undefined
      readonly limit?: number | undefined

      /**
       * Each may name a function: `temperature:max`. avg (default for numbers), latest (default
       * for the rest), last, first, min, max, sum, count, stddev, p50, p95, p99.
       */
      readonly fields: readonly string[]

      /**
       * `minutely`, `hourly`, `daily`, `weekly` (from Monday), `monthly`, or a duration such as
       * `30s`, `15m`, `6h` or `1d`.
       */
      readonly aggregation: string
    }
    readonly answer: QueryPage
  }

  /**
   * Read an alert.
   *
   * Needs the permission `data:read`.
   */
  readonly readAlert: { readonly path: { readonly alertId: string }; readonly answer: Alert }

  /**
   * List what has happened to an alert, oldest first.
   *
   * Needs the permission `data:read`.
   */
  readonly readAlertHistory: {
    readonly path: { readonly alertId: string }
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: number | undefined
    }
    readonly answer: {
      readonly alertId: string
      readonly steps: readonly {
        readonly step: number
        readonly cause:
          | 'reading'
          | 'timer'
          | 'person'
          | 'definition'
          | 'acknowledge'
          | 'comment'
          | 'mute'
          | 'unmute'
          | 'clear'
        readonly from: 'ok' | 'pending' | 'firing' | 'acknowledged' | 'cleared'
        readonly to: 'ok' | 'pending' | 'firing' | 'acknowledged' | 'cleared'

        /** Alert time: that of the readings. */
        readonly at: string

        /** When the entry was received that it follows from. */
        readonly receivedAt: string

        /** Of that entry in the journal. */
        readonly offset: number
        readonly value: number | string | boolean | null
        readonly threshold: number | string | boolean | null

        /** The fields of the reading, where one was the cause. */
        readonly reading: Readonly<Record<string, unknown>> | null
        readonly userId: string | null
        readonly comment: string | null
        readonly mutedUntil: string | null

        /** The event that was sent. */
        readonly eventId: string | null
      }[]
      readonly nextCursor: number | null
    }
  }

  /**
   * Read an alert rule for many streams, and how its streams stand.
   *
   * Needs the permission `streams:read`.
   */
  readonly readAlertRule: {
    readonly path: { readonly alertRuleId: string }
    readonly answer: {
      readonly alertRuleId: string

      /** The rule of its alerts. */
      readonly ruleId: string
      readonly name: string

      /** Of streams in this vault. */
      readonly vaultId: string | null

      /** Of streams with all of these tags. */
      readonly tags: Readonly<Record<string, string>>
      readonly rule: AlertRule
      readonly createdAt: string
      readonly updatedAt: string
      readonly streams: {
        /** Streams that it is for. */
        readonly matching: number

        /** Of them, those still to be compared since a change. */
        readonly pending: number

        /** Of them, those that cannot have it. */
        readonly leftOut: number
      }

      /** At most 100 of those that cannot have it, and why. */
      readonly leftOut: readonly { readonly streamId: string; readonly reason: string }[]
    }
  }

  /**
   * Read an asset.
   *
   * Needs the permission `streams:read`.
   */
  readonly readAsset: {
    readonly path: { readonly streamId: string; readonly assetId: string }
    readonly answer: Asset
  }

  /**
   * Load the metadata of an asset, as they are anchored.
   *
   * Canonical dag-json, byte for byte what its CID is of. It says what was there when it was
   * made: later changes are not in it.
   *
   * Needs the permission `streams:read`.
   */
  readonly readAssetMetadata: {
    readonly path: { readonly streamId: string; readonly assetId: string }
    readonly answer: Uint8Array
  }

  /**
   * Read the proof of an asset.
   *
   * Before it is final on the ledger, what is known so far: `final` is false. To check it
   * takes the public key of the ledger, from another place. It is that of the transaction that
   * the asset comes to be with, and says what the ledger calls it.
   *
   * Needs the permission `streams:read`.
   */
  readonly readAssetProof: {
    readonly path: { readonly streamId: string; readonly assetId: string }
    readonly answer: Proof
  }

  /** Read the description of MQTT and WebSockets. */
  readonly readAsyncApi: {
    readonly answer: {
      readonly asyncapi: '3.0.0'
      readonly info: Readonly<Record<string, unknown>>
      readonly channels: Readonly<Record<string, unknown>>
      readonly [name: string]: unknown
    }
  }

  /**
   * Read an attachment.
   *
   * Needs the permission `attachments:read`.
   */
  readonly readAttachment: {
    readonly path: { readonly attachmentId: string }
    readonly answer: Attachment
  }

  /**
   * Read the proof of the files of an attachment.
   *
   * Before it is final on the ledger, what is known so far: `final` is false. To check it
   * takes the public key of the ledger, from another place.
   *
   * Needs the permission `attachments:read`.
   */
  readonly readAttachmentProof: {
    readonly path: { readonly attachmentId: string }
    readonly query?: {
      /** One of all CIDs that were anchored of it; without it, what it was made with. */
      readonly cid?: string | undefined
    }
    readonly answer: Proof
  }

  /**
   * Read a webhook, as the token interface shows it.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly readBearerWebhook: {
    readonly path: { readonly webhookId: string }
    readonly answer: BearerWebhook
  }

  /**
   * Read the calling user.
   *
   * Needs no particular permission.
   */
  readonly readCallingUser: { readonly answer: User }

  /**
   * Read who is signed in to the console with this session, and what they may do.
   *
   * Needs no particular permission, and a session of the console.
   */
  readonly readConsoleSession: { readonly answer: CurrentConsoleSession }

  /**
   * Read how one wants to see the console.
   *
   * Needs no particular permission.
   */
  readonly readConsoleSettings: { readonly answer: ConsoleSettings }

  /**
   * Read a device.
   *
   * Needs the permission `streams:read`.
   */
  readonly readDevice: { readonly path: { readonly deviceId: string }; readonly answer: Device }

  /** Read this description as a page. */
  readonly readDocs: { readonly answer: string }

  /**
   * Read an address.
   *
   * Needs the permission `notifications:read`.
   */
  readonly readEmailRecipient: {
    readonly path: { readonly configId: string }
    readonly answer: EmailRecipient
  }

  /**
   * List every type of events.
   *
   * How webhooks get each type, which preferences and filters it obeys, whether this version
   * produces it, and the JSON Schema of its `data`. See docs/notifications.md.
   *
   * Needs the permission `notifications:read`.
   */
  readonly readEventCatalogue: {
    readonly answer: {
      readonly events: readonly {
        readonly event_type:
          | 'vault.created'
          | 'vault.completed'
          | 'vault.failed'
          | 'vault.error'
          | 'vault.deleted'
          | 'stream.created'
          | 'stream.completed'
          | 'stream.failed'
          | 'stream.error'
          | 'stream.deleted'
          | 'data_attachment.created'
          | 'data_attachment.completed'
          | 'data_attachment.failed'
          | 'data_attachment.deleted'
          | 'signature.created'
          | 'signature.completed'
          | 'signature.failed'
          | 'signature.error'
          | 'asset.created'
          | 'asset.deployed'
          | 'asset.error'
          | 'vault.permission.granted'
          | 'vault.permission.revoked'
          | 'vault.permission.updated'
          | 'stream.permission.granted'
          | 'stream.permission.revoked'
          | 'stream.permission.updated'
          | 'vault.updated'
          | 'stream.updated'
          | 'data_attachment.updated'
          | 'data_attachment.received'
          | 'signature.updated'
          | 'asset.updated'
          | 'vault.data_updated'
          | 'vault.permission_changed'
          | 'vault.verification_complete'
          | 'vault.accessed'
          | 'stream.data_received'
          | 'stream.alert_triggered'
          | 'stream.alert_cleared'
          | 'security.key_created'
          | 'security.key_revoked'
          | 'security.webhook_disabled'
          | 'security.email_disabled'
          | 'security.ledger_funds_low'
        readonly category:
          | 'vault_notifications'
          | 'stream_notifications'
          | 'data_attachment_notifications'
          | 'signature_notifications'
          | 'asset_notifications'
          | 'permission_notifications'
          | 'security_notifications'
        readonly format: 'emitted' | 'forthcoming' | 'none'
        readonly emitted: boolean
        readonly produced: boolean
        readonly filters: readonly ('vault_ids' | 'stream_ids')[]
        readonly coalesced: boolean
        readonly deduplicated: boolean
        readonly data_schema: Readonly<Record<string, unknown>>
      }[]
    }
  }

  /**
   * Read a fleet.
   *
   * Needs the permission `streams:read`.
   */
  readonly readFleet: { readonly path: { readonly fleetId: string }; readonly answer: Fleet }

  /**
   * Read a device of a fleet.
   *
   * Needs the permission `streams:read`.
   */
  readonly readFleetDevice: {
    readonly path: {
      readonly fleetId: string

      /** The name that its messages have. */
      readonly device: string
    }
    readonly answer: FleetDevice
  }

  /** The same as `/health/ready`. */
  readonly readHealth: {
    readonly answer: {
      readonly status: 'ready'

      /** Each failing part, with what is wrong. */
      readonly failing: Readonly<Record<string, string>>

      /**
       * Each part that does not work and that all else can do without for a while, with what is
       * wrong.
       */
      readonly degraded: Readonly<Record<string, string>>
    }
  }

  /**
   * Read a key.
   *
   * Needs the permission `keys:admin`.
   */
  readonly readKey: { readonly path: { readonly keyId: string }; readonly answer: Key }

  /**
   * Read the newest reading of each data stream of a vault.
   *
   * In the order in which the streams were made; those without a reading are left out.
   *
   * Needs the permission `data:read`.
   */
  readonly readLatestOfVault: {
    readonly path: { readonly vaultId: string }
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: {
      readonly vaultId: string
      readonly data: readonly LatestReading[]
      readonly nextCursor: string | null
    }
  }

  /**
   * Read the newest reading of a data stream.
   *
   * The one with the greatest time, in any order of arrival; null without one.
   *
   * Needs the permission `data:read`.
   */
  readonly readLatestReading: {
    readonly path: { readonly streamId: string }
    readonly answer: { readonly streamId: string; readonly data: DataPoint | null }
  }

  /** Ask whether the process works. */
  readonly readLiveness: { readonly answer: { readonly status: 'live' } }

  /** Read the figures of the service. */
  readonly readMetrics: { readonly answer: string }

  /**
   * Read an MQTT session with its filters.
   *
   * Needs the permission `data:read`.
   */
  readonly readMqttSession: {
    readonly path: { readonly clientId: string }
    readonly query?: {
      /** The device, for a client that is one. */
      readonly deviceId?: string | undefined
    }
    readonly answer: MqttSessionWithFilters
  }

  /**
   * Read of what you are notified, and how.
   *
   * Needs the permission `notifications:read`.
   */
  readonly readNotificationPreferences: { readonly answer: NotificationPreferences }

  /** Read this description. */
  readonly readOpenApi: {
    readonly answer: {
      readonly openapi: '3.1.0'
      readonly info: Readonly<Record<string, unknown>>
      readonly paths: Readonly<Record<string, unknown>>
      readonly [name: string]: unknown
    }
  }

  /**
   * Read the state of all your data streams, and what needs attention.
   *
   * Readings per minute are counted in memory: since the service has begun, and for an hour.
   * What was received and quarantined stands at its receipt, and what was stored at when it
   * was.
   *
   * Needs the permissions `streams:read` and `data:read`.
   */
  readonly readOverview: { readonly answer: Overview }

  /**
   * Read one refused reading.
   *
   * Needs the permission `data:read`.
   */
  readonly readQuarantineEntry: {
    readonly path: {
      readonly streamId: string

      /** Offset of the reading in the journal. */
      readonly entryId: number
    }
    readonly answer: QuarantineEntry
  }

  /** Ask whether every part of the service works. */
  readonly readReadiness: {
    readonly answer: {
      readonly status: 'ready'

      /** Each failing part, with what is wrong. */
      readonly failing: Readonly<Record<string, string>>

      /**
       * Each part that does not work and that all else can do without for a while, with what is
       * wrong.
       */
      readonly degraded: Readonly<Record<string, string>>
    }
  }

  /**
   * Read the readings of a data stream, or what they amount to, in the order of time.
   *
   * Needs the permission `data:read`.
   */
  readonly readReadings: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      /** Included. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly start?: string | undefined

      /** Excluded. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly end?: string | undefined

      /** `desc`: the newest first. A cursor is for the order that it was made in. */
      readonly order?: 'asc' | 'desc' | undefined

      /**
       * The time zone (IANA) whose clocks hours, days, weeks and months follow. Answers stay in
       * UTC.
       */
      readonly tz?: string | undefined

      /** What stands where a bucket has no value; anything but `none` needs start and end. */
      readonly fill?: 'none' | 'null' | 'previous' | 'linear' | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined

      /**
       * At most 10,000 in a page of JSON, where 1,000 is the default. CSV and NDJSON have no limit
       * unless it is asked for.
       */
      readonly limit?: number | undefined

      /**
       * A comma list; all fields when absent. Each may name a function: `temperature:max`. avg
       * (default for numbers), latest (default for the rest), last, first, min, max, sum, count,
       * stddev, p50, p95, p99.
       */
      readonly fields?: string | undefined

      /**
       * `raw`: the readings as they were sent; `window`: the windows of the stream, which its
       * definition makes; else `minutely`, `hourly`, `daily`, `weekly` (from Monday), `monthly`,
       * or a duration such as `30s`, `15m`, `6h` or `1d`.
       */
      readonly aggregation?: string | undefined
    }
    readonly answer: ReadingsPage
  }

  /**
   * Read what happened to the readings of one time.
   *
   * For each of them: how it came in, its verdict, whether it is stored, its windows, the
   * alerts that it moved, their events with every delivery, and its seal. `missing` names what
   * is not known any more, and why.
   *
   * Needs the permission `data:read`.
   */
  readonly readReceipt: {
    readonly path: { readonly streamId: string }
    readonly query: {
      /** Of the reading. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly timestamp: string
    }
    readonly answer: Receipt
  }

  /**
   * Read a signature.
   *
   * Needs the permission `attachments:read`.
   */
  readonly readSignature: {
    readonly path: { readonly attachmentId: string; readonly signatureId: string }
    readonly answer: Signature
  }

  /**
   * Read the proof of a signature.
   *
   * Before it is final on the ledger, what is known so far: `final` is false. To check it
   * takes the public key of the ledger, from another place. It has the signature itself, too:
   * who keeps it needs nothing else to check both.
   *
   * Needs the permission `attachments:read`.
   */
  readonly readSignatureProof: {
    readonly path: { readonly attachmentId: string; readonly signatureId: string }
    readonly answer: SignatureProof
  }

  /**
   * Read how far the data of a deleted stream is removed.
   *
   * For 30 days after that is done.
   *
   * Needs the permission `streams:read`.
   */
  readonly readStreamDeletion: {
    readonly path: { readonly streamId: string }
    readonly answer: {
      readonly streamId: string
      readonly name: string
      readonly status: 'deleted'
      readonly deletedAt: string

      /** Null while there is data left. */
      readonly removedAt: string | null
      readonly removed: {
        /** Out of the store. */
        readonly readings: number

        /** Out of the quarantine. */
        readonly quarantined: number
      }
    }
  }

  /**
   * Load the metadata of an asset stream, as they are anchored.
   *
   * Canonical dag-json, byte for byte what its CID is of. It says what was there when it was
   * made: later changes are not in it.
   *
   * Needs the permission `streams:read`.
   */
  readonly readStreamMetadata: {
    readonly path: { readonly streamId: string }
    readonly answer: Uint8Array
  }

  /**
   * Read the proof of an asset stream.
   *
   * Before it is final on the ledger, what is known so far: `final` is false. To check it
   * takes the public key of the ledger, from another place.
   *
   * Needs the permission `streams:read`.
   */
  readonly readStreamProof: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      /** One of all CIDs that were anchored of it; without it, what it was made with. */
      readonly cid?: string | undefined
    }
    readonly answer: Proof
  }

  /**
   * Read how a data stream is doing.
   *
   * Needs the permission `streams:read`.
   */
  readonly readStreamStatus: {
    readonly path: { readonly streamId: string }
    readonly answer: StreamStatus
  }

  /**
   * Read a template.
   *
   * Needs the permission `vaults:read`.
   */
  readonly readTemplate: {
    readonly path: { readonly templateId: string }
    readonly answer: Template
  }

  /**
   * Load the metadata of a template, which vaults refer to.
   *
   * Canonical dag-json, byte for byte what its CID is of. It says what was there when it was
   * made: later changes are not in it.
   *
   * Needs the permission `vaults:read`.
   */
  readonly readTemplateMetadata: {
    readonly path: { readonly templateId: string }
    readonly answer: Uint8Array
  }

  /**
   * Read a user: your own, or with platform:admin any other.
   *
   * Needs no particular permission.
   */
  readonly readUser: { readonly path: { readonly userId: string }; readonly answer: User }

  /**
   * Read a vault.
   *
   * One's own, one that its owner shares, or a public one.
   *
   * Needs the permission `vaults:read`.
   */
  readonly readVault: { readonly path: { readonly vaultId: string }; readonly answer: Vault }

  /**
   * Load the metadata of a vault, as they are anchored.
   *
   * Canonical dag-json, byte for byte what its CID is of. It says what was there when it was
   * made: later changes are not in it.
   *
   * Needs the permission `vaults:read`.
   */
  readonly readVaultMetadata: {
    readonly path: { readonly vaultId: string }
    readonly answer: Uint8Array
  }

  /**
   * Read the proof of a vault.
   *
   * Before it is final on the ledger, what is known so far: `final` is false. To check it
   * takes the public key of the ledger, from another place. An image of its own that came
   * later has a proof of its own, by its CID.
   *
   * Needs the permission `vaults:read`.
   */
  readonly readVaultProof: {
    readonly path: { readonly vaultId: string }
    readonly query?: {
      /** One of all CIDs that were anchored of it; without it, what it was made with. */
      readonly cid?: string | undefined
    }
    readonly answer: Proof
  }

  /**
   * Read how long the data of the streams of a vault is kept.
   *
   * For those that say nothing themselves, in `processing.retention`.
   *
   * Needs the permission `vaults:read`.
   */
  readonly readVaultRetention: {
    readonly path: { readonly vaultId: string }
    readonly answer: VaultRetention
  }

  /**
   * Read a webhook, with its secret.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly readWebhook: { readonly path: { readonly configId: string }; readonly answer: Webhook }

  /**
   * List the events of a webhook, newest first.
   *
   * Needs the permission `webhooks:read`.
   */
  readonly readWebhookLogs: {
    readonly path: { readonly webhookId: string }
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
    }
    readonly answer: {
      readonly webhookId: string
      readonly logs: readonly {
        readonly eventId: string
        readonly eventType: string
        readonly deliveryStatus: 'pending' | 'delivered' | 'failed' | 'cancelled'

        /** Of the last attempt. */
        readonly httpStatus: number | null

        /** Milliseconds of the last attempt. */
        readonly responseTime: number | null
        readonly timestamp: string
        readonly attempts: number
        readonly lastError: string | null
      }[]
    }
  }

  /**
   * Take a message of a webhook.
   *
   * Needs no credentials: the message is signed, in the way that the source of the stream
   * says. The signature is that of the very bytes of the body, after its `Content-Encoding`
   * was undone. 202 means that it is on disk. What does not fit the schema is kept in the
   * quarantine, and answered 202 as well: its sender could not correct it. A message that was
   * kept before is answered `repeated`.
   */
  readonly receiveWebhook: {
    readonly path: {
      /** The last part of the address of the stream. */
      readonly hookId: string
    }
    readonly body?: Reading | readonly Reading[]
    readonly rawType:
      | 'application/cloudevents+json'
      | 'application/cloudevents-batch+json'
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
      | 'text/plain'
      | 'text/csv'
      | 'application/x-www-form-urlencoded'
      | 'application/senml+json'
      | 'application/senml+cbor'
      | 'application/protobuf'
      | 'application/x-protobuf'
      | 'text/x-influx-line-protocol'
      | 'application/openmetrics-text'
    readonly answer:
      | {
          readonly challenge?: string | undefined
          readonly validationResponse?: string | undefined
        }
      | {
          readonly status: 'accepted' | 'repeated'

          /** That were taken; 0 where it was known. */
          readonly readings: number

          /** That are in the quarantine. */
          readonly refused: number
        }
  }

  /**
   * Deliver what a webhook has missed since then.
   *
   * Events that it is subscribed to, that its filters let pass, and that were not delivered:
   * also those from while it was paused or disabled. At most 5,000 events are looked at; ask
   * again with `next_since` where that is not null.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly recoverDeliveries: {
    readonly path: { readonly configId: string }
    readonly body: Recovery
    readonly answer: { readonly recovered: number; readonly next_since: string | null }
  }

  /**
   * Judge refused readings again, by the newest definition of the stream.
   *
   * What fits now is stored, with the time at which it was received, and leaves the
   * quarantine. What does not stays, and says why it does not fit the newest definition.
   * Without a body all entries are judged. Asked for again after a failure it goes on with
   * what is left.
   *
   * Needs the permission `data:write`.
   */
  readonly redriveQuarantine: {
    readonly path: { readonly streamId: string }
    readonly body?: {
      /** Only these entries. */
      readonly ids?: readonly number[] | undefined

      /** Only entries with this reason, or one of these. */
      readonly reason?: string | readonly string[] | undefined

      /**
       * Received then or later. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly start?: string | number | undefined

      /**
       * Received before then. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | number | undefined
    } | null
    readonly answer: {
      readonly streamId: string

      /** Entries that have left the quarantine. */
      readonly redriven: number

      /** Readings that fit now: a message may hold several. */
      readonly accepted: number

      /** Entries that were judged and stay. */
      readonly remaining: number

      /** Why: of the first 100 that stay. */
      readonly stillRefused: readonly {
        /** Offset of the reading in the journal. */
        readonly id: number
        readonly reason: string
        readonly message: string

        /** What to do about it, for people. */
        readonly remedy: string
        readonly details: readonly ErrorDetail[]
      }[]
    }
  }

  /**
   * Register a new device, with a provisioning key: it gets a stream and credentials.
   *
   * A serial registers once: again is 409, unless its owner has set `mayRegisterAgain`, which
   * gives the device new credentials and ends the old ones.
   *
   * Needs no particular permission.
   */
  readonly registerDevice: {
    readonly body: { readonly serial: string; readonly name?: string | undefined }
    readonly answer: {
      readonly streamId: string

      /** Where the device publishes its readings. */
      readonly topic: string
      readonly device: DeviceWithSecret
    }
  }

  /**
   * Take samples that Prometheus writes.
   *
   * Remote write 1.0 and 2.0 of Prometheus. Each sample is a reading (`metric`, `value` and
   * the labels) of the device that the label `source.deviceField` of the fleet names. `fleet`,
   * `bucket` or `db` names the fleet. 204 means that all samples are on disk; of a request
   * with refused ones (400) the others are, and those are in the quarantine of their streams.
   *
   * Needs the permission `data:write`.
   */
  readonly remoteWrite: {
    readonly query?: {
      /** Names a fleet by its id or its name. */
      readonly fleet?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly bucket?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly db?: string | undefined
    }
    readonly rawType: 'application/x-protobuf'
    readonly answer: undefined
  }

  /**
   * Remove the readings of a range of time from a data stream.
   *
   * Removes exactly the readings in [start, end) that were acknowledged before. What is sent
   * later stays, also when it equals a removed reading.
   *
   * Needs the permission `data:write`.
   */
  readonly removeReadings: {
    readonly path: { readonly streamId: string }
    readonly query: {
      /** Included. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly start: string

      /** Excluded. RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times). */
      readonly end: string
    }
    readonly answer:
      | {
          readonly streamId: string
          readonly start: string
          readonly end: string
          readonly status: 'accepted'
        }
      | undefined
  }

  /**
   * Let the stream of a device take the messages with another name.
   *
   * From the answer on, messages with the new name go to the stream of the device, and
   * messages with the old name are those of a new device. The tag `device` of the stream gets
   * the new name, and so does the stream where it is called like the device.
   *
   * Needs the permission `streams:write`.
   */
  readonly renameFleetDevice: {
    readonly path: {
      readonly fleetId: string

      /** The name that its messages have. */
      readonly device: string
    }
    readonly body: {
      /** The name that its messages have. */
      readonly name: string
    }
    readonly answer: FleetDevice
  }

  /**
   * Say how one wants to see the console.
   *
   * Needs no particular permission.
   */
  readonly replaceConsoleSettings: {
    readonly body: ConsoleSettings
    readonly answer: ConsoleSettings
  }

  /**
   * Deliver once more what was delivered or was given up.
   *
   * Takes the id of a delivery or of one of its attempts. The same bytes are sent, with as
   * many attempts as for a new delivery; failures are not counted.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly resendDelivery: {
    readonly path: { readonly configId: string; readonly deliveryId: string }
    readonly answer: PlannedDelivery
  }

  /**
   * Go back to the default preferences.
   *
   * Needs the permission `notifications:write`.
   */
  readonly resetNotificationPreferences: { readonly answer: NotificationPreferences }

  /**
   * Let an export that has failed or was cancelled go on after its last file.
   *
   * Any other is answered as it is.
   *
   * Needs the permission `data:read`.
   */
  readonly resumeExport: { readonly path: { readonly exportId: string }; readonly answer: Export }

  /**
   * Let an import that has failed or was cancelled go on.
   *
   * Any other is answered as it is.
   *
   * Needs the permission `data:write`.
   */
  readonly resumeImport: { readonly path: { readonly importId: string }; readonly answer: Import }

  /**
   * Let a paused data stream go on.
   *
   * Resuming a stream that is not paused changes nothing.
   *
   * Needs the permission `streams:write`.
   */
  readonly resumeStream: {
    readonly path: { readonly streamId: string }
    readonly answer: StreamStatus
  }

  /**
   * Try again to issue an asset.
   *
   * Of one in the status ERROR. What is signed is never signed again. It goes on with the step
   * that was not done.
   *
   * Needs the permission `streams:write`.
   */
  readonly retryAsset: {
    readonly path: { readonly streamId: string; readonly assetId: string }
    readonly answer: Asset
  }

  /**
   * Try again to anchor the files of an attachment.
   *
   * Of one in the status ERROR. What is signed is never signed again.
   *
   * Needs the permission `attachments:write`.
   */
  readonly retryAttachment: {
    readonly path: { readonly attachmentId: string }
    readonly answer: Attachment
  }

  /**
   * Try again to anchor a signature.
   *
   * Of one in the status ERROR. What is signed is never signed again.
   *
   * Needs the permission `attachments:write`.
   */
  readonly retrySignature: {
    readonly path: { readonly attachmentId: string; readonly signatureId: string }
    readonly answer: Signature
  }

  /**
   * Try again to anchor an asset stream.
   *
   * Of one in the status ERROR. What is signed is never signed again.
   *
   * Needs the permission `streams:write`.
   */
  readonly retryStream: {
    readonly path: { readonly streamId: string }
    readonly answer: AssetStream
  }

  /**
   * Try again to anchor a vault.
   *
   * Of one in the status ERROR. What is signed is never signed again.
   *
   * Needs the permission `vaults:write`.
   */
  readonly retryVault: { readonly path: { readonly vaultId: string }; readonly answer: Vault }

  /**
   * Revoke a device: its tokens and sessions end at once, and it stays in the list.
   *
   * Needs the permission `keys:admin`.
   */
  readonly revokeDevice: { readonly path: { readonly deviceId: string }; readonly answer: Device }

  /**
   * Revoke a key: its tokens and sessions end at once.
   *
   * Needs the permission `keys:admin`.
   */
  readonly revokeKey: { readonly path: { readonly keyId: string }; readonly answer: undefined }

  /**
   * Revoke a provisioning key; devices that have registered with it stay.
   *
   * Needs the permission `keys:admin`.
   */
  readonly revokeProvisioningKey: {
    readonly path: { readonly vaultId: string; readonly provisioningKeyId: string }
    readonly answer: undefined
  }

  /**
   * Share an asset stream with a user no more.
   *
   * It ends with the very next request.
   *
   * Needs the permission `streams:write`.
   */
  readonly revokeStreamPermission: {
    readonly path: { readonly streamId: string; readonly permissionId: string }
    readonly answer: undefined
  }

  /**
   * Share a vault with a user no more.
   *
   * It ends with the very next request.
   *
   * Needs the permission `vaults:write`.
   */
  readonly revokeVaultPermission: {
    readonly path: { readonly vaultId: string; readonly permissionId: string }
    readonly answer: undefined
  }

  /**
   * Sign content with a new key from now on.
   *
   * The private half of the one before is removed; its public half stays published, and what
   * it has signed stays good.
   *
   * Needs the permission `platform:admin`.
   */
  readonly rotateContentKey: { readonly answer: { readonly kid: string } }

  /**
   * Give a device a new secret; the one before stays good for a while.
   *
   * With an overlap of 0 its sessions end at once.
   *
   * Needs the permission `keys:admin`.
   */
  readonly rotateDevice: {
    readonly path: { readonly deviceId: string }
    readonly body?: { readonly overlapSeconds?: number | undefined } | null
    readonly answer: DeviceWithSecret
  }

  /**
   * Give a key a new secret; the one before stays good for a while.
   *
   * Needs the permission `keys:admin`.
   */
  readonly rotateKey: {
    readonly path: { readonly keyId: string }
    readonly body?: { readonly overlapSeconds?: number | undefined } | null
    readonly answer: KeyWithSecret
  }

  /**
   * Sign access tokens with a new key from now on.
   *
   * Tokens of the key before stay good for the overlap; 0 ends them at once.
   *
   * Needs the permission `platform:admin`.
   */
  readonly rotateSigningKey: {
    readonly body?: { readonly overlapSeconds?: number | undefined } | null
    readonly answer: { readonly kid: string }
  }

  /**
   * Replace the secret of the webhook of a stream, with a time of overlap.
   *
   * Messages that are signed with the old secret are taken until the overlap ends. At most two
   * secrets are good at a time: rotating again ends the older one.
   *
   * Needs the permission `streams:write`.
   */
  readonly rotateSourceSecret: {
    readonly path: { readonly streamId: string }
    readonly body: { readonly secret: string; readonly overlapSeconds?: number | undefined }
    readonly answer: {
      readonly streamId: string

      /** Until when the old secret is good; null: no longer. */
      readonly previousUntil: string | null
    }
  }

  /**
   * Replace the secret of a webhook, with a time of overlap.
   *
   * Until its end `X-Service-Signature` is made with the old secret, and
   * `X-Service-Signature-Next` with the new one. A secret that is not given is made.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly rotateWebhookSecret: {
    readonly path: { readonly configId: string }
    readonly body: SecretRotation
    readonly answer: {
      readonly id: string
      readonly secret: string
      readonly previous_until: string | null
    }
  }

  /**
   * Read from the source of a stream now.
   *
   * Begins the next round of a source with a schedule at once, and the next try of one that
   * fails. Its state is in `GET /streams/{streamId}/status`.
   *
   * Needs the permission `streams:write`.
   */
  readonly runSource: {
    readonly path: { readonly streamId: string }
    readonly answer: { readonly streamId: string }
  }

  /**
   * Sign a browser in to the console, with a key and its secret.
   *
   * Only for a page of this service. The session is a cookie; one that the browser has already
   * ends. Keys of devices, and those that devices register with, get none.
   */
  readonly signIn: {
    readonly body: { readonly apiKey: string; readonly apiSecret: string }
    readonly answer: CurrentConsoleSession
  }

  /**
   * Sign out: the session of this request ends.
   *
   * Needs no particular permission, and a session of the console.
   */
  readonly signOut: { readonly answer: undefined }

  /**
   * Count the alerts that go on, by state and severity, in all and for each vault.
   *
   * Needs the permission `data:read`.
   */
  readonly summarizeAlerts: {
    readonly answer: {
      readonly pending: {
        readonly info: number
        readonly warning: number
        readonly critical: number
      }
      readonly firing: {
        readonly info: number
        readonly warning: number
        readonly critical: number
      }
      readonly acknowledged: {
        readonly info: number
        readonly warning: number
        readonly critical: number
      }
      readonly vaults: readonly {
        readonly vaultId: string
        readonly pending: {
          readonly info: number
          readonly warning: number
          readonly critical: number
        }
        readonly firing: {
          readonly info: number
          readonly warning: number
          readonly critical: number
        }
        readonly acknowledged: {
          readonly info: number
          readonly warning: number
          readonly critical: number
        }
      }[]
    }
  }

  /**
   * Count the refused readings of a data stream by reason.
   *
   * Needs the permission `data:read`.
   */
  readonly summarizeQuarantine: {
    readonly path: { readonly streamId: string }
    readonly answer: {
      readonly streamId: string
      readonly entries: number
      readonly reasons: readonly { readonly reason: string; readonly entries: number }[]
    }
  }

  /**
   * Count the refused readings of all one's own data streams by stream and reason.
   *
   * Needs the permissions `streams:read` and `data:read`.
   */
  readonly summarizeQuarantineOfAll: {
    readonly query?: {
      /** Groups that are shown. */
      readonly limit?: number | undefined
    }
    readonly answer: {
      readonly entries: number
      readonly reasons: readonly { readonly reason: string; readonly entries: number }[]

      /** The largest ones, the largest first. */
      readonly groups: readonly {
        readonly streamId: string
        readonly streamName: string
        readonly reason: string
        readonly entries: number
      }[]

      /** How many groups there are, those left out included. */
      readonly groupCount: number
    }
  }

  /**
   * Follow the readings of a data stream as they arrive.
   *
   * Server-Sent Events; with `Upgrade: websocket` the same as messages of a WebSocket. Each
   * reading carries a position, from which one can go on later, in `from` or in
   * `Last-Event-ID`: nothing is missing then, and nothing comes twice. See docs/live.md.
   *
   * Needs the permission `data:read`.
   */
  readonly tailStream: {
    readonly path: { readonly streamId: string }
    readonly query?: {
      /** A position from a tail of this stream: go on from there. */
      readonly from?: string | undefined

      /**
       * First what is stored from then on, then what arrives. RFC 3339, `now`, `-24h`, or a number
       * since 1970 (docs/queries.md#times).
       */
      readonly start?: string | undefined

      /** First the newest so many stored readings, then what arrives. */
      readonly last?: number | undefined

      /** Also refused readings, as events of the name `quarantined`. */
      readonly include?: 'quarantined' | undefined
    }
    readonly answer: never
  }

  /**
   * Send a webhook an event that has not happened.
   *
   * One attempt, which is not counted as a failure; its data has `"test": true`. The outcome
   * is among the deliveries.
   *
   * Needs the permission `webhooks:write`.
   */
  readonly testWebhook: {
    readonly path: { readonly configId: string }
    readonly body: WebhookTest
    readonly answer: PlannedDelivery
  }

  /**
   * See what a redrive would do, by the definition as it is or by a change of it.
   *
   * Nothing is stored, and every entry stays. Choose entries as for a redrive; without a body
   * all are judged.
   *
   * Needs the permission `data:read`.
   */
  readonly tryQuarantine: {
    readonly path: { readonly streamId: string }
    readonly body?: {
      /** Only these entries. */
      readonly ids?: readonly number[] | undefined

      /** Only entries with this reason, or one of these. */
      readonly reason?: string | readonly string[] | undefined

      /**
       * Received then or later. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly start?: string | number | undefined

      /**
       * Received before then. RFC 3339, `now`, `-24h`, or a number since 1970
       * (docs/queries.md#times).
       */
      readonly end?: string | number | undefined

      /** A change of the definition to try, as `PUT /streams/{streamId}` takes it. */
      readonly definition?: Readonly<Record<string, unknown>> | undefined
    } | null
    readonly answer: {
      readonly streamId: string

      /** Entries that would leave the quarantine. */
      readonly redriven: number

      /** Readings that fit now: a message may hold several. */
      readonly accepted: number

      /** Entries that were judged and stay. */
      readonly remaining: number

      /** Why: of the first 100 that stay. */
      readonly stillRefused: readonly {
        /** Offset of the reading in the journal. */
        readonly id: number
        readonly reason: string
        readonly message: string

        /** What to do about it, for people. */
        readonly remedy: string
        readonly details: readonly ErrorDetail[]
      }[]
    }
  }

  /**
   * Notify again of what a rule finds on a stream.
   *
   * Needs the permission `data:write`.
   */
  readonly unmuteAlert: {
    readonly path: { readonly alertId: string }
    readonly body?: { readonly comment?: string | undefined } | null
    readonly answer: Alert
  }

  /**
   * Have no more mails sent to an address: by the button, or one click (RFC 8058).
   *
   * The body, if there is one, is not looked at. The address is DISABLED, and has to be
   * confirmed again.
   */
  readonly unsubscribeByMail: {
    readonly path: {
      /** From the mail. */
      readonly token: string
    }
    readonly answer: string
  }

  /**
   * Upload the file that a resource waits for.
   *
   * The address, with its signature, is the only credential: it comes from `presigned_url`,
   * `upload_url` or `image_upload_url` of the resource, is good for 15 minutes, and takes one
   * file. The body is the file itself, as `curl -T FILE URL` sends it; its content type is of
   * no matter. An upload that breaks off can be made again.
   */
  readonly uploadFile: {
    readonly path: { readonly uploadId: string }
    readonly query?: {
      /** Seconds since the Unix epoch. */
      readonly expires?: string | undefined

      /** Bytes. */
      readonly limit?: string | undefined

      /** Of method, path, time and limit. */
      readonly signature?: string | undefined
    }
    readonly body: string
    readonly answer: TakenUpload
  }

  /**
   * Say what would happen to readings, and store nothing.
   *
   * Takes what `POST /streams/{streamId}/data` takes, and judges it by the newest definition.
   * Nothing is kept or counted of them.
   *
   * Needs the permission `data:write`.
   */
  readonly validateReadings: {
    readonly path: { readonly streamId: string }
    readonly body?: Reading | readonly Reading[]
    readonly rawType:
      | 'application/cloudevents+json'
      | 'application/cloudevents-batch+json'
      | 'application/x-ndjson'
      | 'application/cbor'
      | 'application/vnd.msgpack'
      | 'application/msgpack'
      | 'application/x-msgpack'
      | 'text/plain'
      | 'text/csv'
      | 'application/x-www-form-urlencoded'
      | 'application/senml+json'
      | 'application/senml+cbor'
      | 'application/protobuf'
      | 'application/x-protobuf'
      | 'text/x-influx-line-protocol'
      | 'application/openmetrics-text'
    readonly answer: {
      readonly streamId: string

      /** Of the definition. */
      readonly version: number

      /** Filtered ones as well. */
      readonly accepted: number
      readonly rejected: number
      readonly readings: readonly (
        | {
            /** Its place in the batch; 0 for a single reading. */
            readonly index: number
            readonly status: 'accepted'
            readonly timestamp: string

            /** The declared fields, as they would be stored. */
            readonly values: Readonly<Record<string, unknown>>

            /** Fields whose value is out of range. */
            readonly flagged: readonly string[]

            /** Fields that the stream does not know. */
            readonly extra?: Readonly<Record<string, unknown>> | undefined
          }
        | {
            /** Its place in the batch; 0 for a single reading. */
            readonly index: number
            readonly status: 'filtered'
            readonly timestamp: string
          }
        | {
            /** Its place in the batch. */
            readonly index: number

            /** Why; as in the quarantine. */
            readonly error: string
            readonly message: string

            /** What to do about it, for people. */
            readonly remedy: string
            readonly details: readonly ErrorDetail[]
            readonly status: 'rejected'
          }
      )[]
    }
  }

  /**
   * Confirm an address, by the button that the link in the mail to it leads to.
   *
   * The body, if there is one, is not looked at.
   */
  readonly verifyByMail: {
    readonly path: {
      /** From the mail. */
      readonly token: string
    }
    readonly answer: string
  }

  /**
   * Ask what is known of a CID on the ledgers.
   *
   * Needs no credentials. Of what is not public it shows only the anchor, and which keys have
   * signed the content. Of several anchors of one CID it shows the earliest that is final.
   */
  readonly verifyCid: {
    readonly path: {
      /** CIDv1 in base32. */
      readonly cid: string
    }
    readonly answer: VerifiedCid
  }

  /**
   * Have a vault compared with what was anchored of it.
   *
   * What is kept is hashed again, and the ledger is asked. A vault has one at a time: while it
   * is under way, the answer is the same one. See docs/anchoring.md.
   *
   * Needs the permission `vaults:write`.
   */
  readonly verifyVault: {
    readonly path: { readonly vaultId: string }
    readonly answer: Verification
  }

  /**
   * Write lines as to InfluxDB 2.
   *
   * `bucket`, `db` or `fleet` names a fleet. Each line is a reading of the device that the tag
   * `source.deviceField` of the fleet names; the first line of a new device makes its stream.
   * 204 means that all lines are on disk. Of some that were refused (400, partial write) the
   * others are on disk, and those are in the quarantine of their streams.
   *
   * Needs the permission `data:write`.
   */
  readonly writeBucketLines: {
    readonly query?: {
      /** Names a fleet by its id or its name. */
      readonly fleet?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly bucket?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly db?: string | undefined

      /**
       * The unit of the times: ns (when left out), us, ms, s, m or h, and n and u as in InfluxDB
       * 1.
       */
      readonly precision?: string | undefined
      readonly org?: string | undefined
      readonly orgID?: string | undefined
    }
    readonly rawType: 'text/plain'
    readonly answer: undefined
  }

  /**
   * Write lines as to InfluxDB 1.
   *
   * `db`, `bucket` or `fleet` names a fleet. Each line is a reading of the device that the tag
   * `source.deviceField` of the fleet names; the first line of a new device makes its stream.
   * 204 means that all lines are on disk. Of some that were refused (400, partial write) the
   * others are on disk, and those are in the quarantine of their streams.
   *
   * Needs the permission `data:write`.
   */
  readonly writeDatabaseLines: {
    readonly query?: {
      /** Names a fleet by its id or its name. */
      readonly fleet?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly bucket?: string | undefined

      /** Names a fleet by its id or its name. */
      readonly db?: string | undefined

      /**
       * The unit of the times: ns (when left out), us, ms, s, m or h, and n and u as in InfluxDB
       * 1.
       */
      readonly precision?: string | undefined
      readonly rp?: string | undefined
      readonly consistency?: string | undefined
    }
    readonly rawType: 'text/plain'
    readonly answer: undefined
  }
}

/** What a bearer token has, or has in a shape of its own. */
export interface BearerOperations {
  /**
   * Change a data stream, or an asset stream.
   *
   * **With a bearer token:** A data stream. What is not sent stays. The definition as it would
   * be is checked as for a new stream, and becomes the next version, unless it says what the
   * version before did. Readings that arrive after the answer are judged by it. With
   * `If-Match` it is changed only while it has that version. Of the stream of a device of a
   * fleet only the name and its own tags can be changed.
   *
   * **With a key:** The description of an asset stream. The code is what gets anchored: it
   * stays. A permission to WRITE is enough.
   *
   * Needs the permission `streams:write`.
   */
  readonly changeStream: {
    readonly path: { readonly streamId: string }
    readonly body: DataStreamChange
    readonly answer: DataStreamDefinition
  }

  /**
   * Create a data stream, or an asset stream.
   *
   * **With a bearer token:** A data stream. All of the definition is checked before anything
   * of it is stored.
   *
   * **With a key:** An asset stream. No two of a user have the same code.
   *
   * Needs the permission `streams:write`.
   */
  readonly createStream: { readonly body: NewDataStream; readonly answer: DataStream }

  /**
   * List one's own data streams, or asset streams.
   *
   * **With a bearer token:** One's own data streams. Filters can be combined; a stream has to
   * meet all of them. `tag.NAME=VALUE` finds streams by their tags, and may come for several
   * tags. In the order of creation, or of the name, a walk from page to page meets each stream
   * once, even if streams are made or deleted meanwhile.
   *
   * **With a key:** One's own asset streams and those that others share, oldest first, in
   * pages.
   *
   * Needs the permission `streams:read`.
   */
  readonly listStreams: {
    readonly query?: {
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined
      readonly vaultId?: string | undefined

      /** The full name, or its beginning and *; case makes no difference. */
      readonly name?: string | undefined

      /** A part of the name, in any case, or the beginning of the id: 4 characters of it, or more. */
      readonly contains?: string | undefined

      /** A comma list of created, active, paused, error. */
      readonly state?: string | undefined

      /**
       * A comma list, of which a stream has at least one: `silent` (it has received, but nothing
       * for `silentAfter`), `quarantined` (there are readings in its quarantine), `firing` (an
       * alert fires that are not acknowledged), `failing` (its source fails, and not for a moment
       * only), or `any`.
       */
      readonly problem?: string | undefined

      /**
       * Only streams whose readings are fetched from somewhere, and whose source is in one of
       * these states: a comma list of connecting, running, waiting, failing, paused, or `any`.
       */
      readonly source?: string | undefined

      /** A duration, such as 30s, 15m, 6h or 1d. */
      readonly silentAfter?: string | undefined

      /**
       * With a minus the greatest first. By a figure (`lastReading`, `rate`, `quarantined`) only
       * the first 1000 are listed.
       */
      readonly sort?:
        | 'created'
        | '-created'
        | 'name'
        | '-name'
        | 'lastReading'
        | '-lastReading'
        | 'rate'
        | '-rate'
        | 'quarantined'
        | '-quarantined'
        | undefined

      /** How each stream is doing. A page has at most 100 streams then. */
      readonly include?: 'health' | undefined
    }
    readonly answer: readonly ListedDataStream[]
  }

  /**
   * List one's own vaults, and those that others share.
   *
   * A bearer token takes `limit` and `cursor` and gets an array; a key takes `page` and
   * `page_size` and gets an envelope. `contains` is for bearer tokens.
   *
   * Needs the permission `vaults:read`.
   */
  readonly listVaults: {
    readonly query?: {
      readonly page?: number | undefined
      readonly page_size?: number | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined

      /** A part of the name, in any case, or the beginning of the id: 4 characters of it, or more. */
      readonly contains?: string | undefined
    }
    readonly answer: readonly BearerVault[]
  }

  /**
   * Read the definition of a data stream, or an asset stream.
   *
   * **With a bearer token:** The definition of a data stream. In place of the secrets of its
   * source there are marks.
   *
   * **With a key:** An asset stream.
   *
   * Needs the permission `streams:read`.
   */
  readonly readStream: {
    readonly path: { readonly streamId: string }
    readonly answer: DataStreamDefinition
  }

  /**
   * Check the access token of this request, and read what it grants now.
   *
   * Needs no particular permission, and a bearer token.
   */
  readonly validateToken: {
    readonly answer: {
      readonly valid: true
      readonly expiresAt: string

      /** Permissions, separated by spaces. */
      readonly scope: string
      readonly apiKeyId: string
      readonly userId: string
    }
  }
}

/** What a key has, or has in a shape of its own. */
export interface KeyOperations {
  /**
   * Change a data stream, or an asset stream.
   *
   * **With a bearer token:** A data stream. What is not sent stays. The definition as it would
   * be is checked as for a new stream, and becomes the next version, unless it says what the
   * version before did. Readings that arrive after the answer are judged by it. With
   * `If-Match` it is changed only while it has that version. Of the stream of a device of a
   * fleet only the name and its own tags can be changed.
   *
   * **With a key:** The description of an asset stream. The code is what gets anchored: it
   * stays. A permission to WRITE is enough.
   *
   * Needs the permission `streams:write`.
   */
  readonly changeStream: {
    readonly path: { readonly streamId: string }
    readonly body: AssetStreamChange
    readonly answer: AssetStream
  }

  /**
   * Create a data stream, or an asset stream.
   *
   * **With a bearer token:** A data stream. All of the definition is checked before anything
   * of it is stored.
   *
   * **With a key:** An asset stream. No two of a user have the same code.
   *
   * Needs the permission `streams:write`.
   */
  readonly createStream: { readonly body: NewAssetStream; readonly answer: AssetStream }

  /**
   * List one's own data streams, or asset streams.
   *
   * **With a bearer token:** One's own data streams. Filters can be combined; a stream has to
   * meet all of them. `tag.NAME=VALUE` finds streams by their tags, and may come for several
   * tags. In the order of creation, or of the name, a walk from page to page meets each stream
   * once, even if streams are made or deleted meanwhile.
   *
   * **With a key:** One's own asset streams and those that others share, oldest first, in
   * pages.
   *
   * Needs the permission `streams:read`.
   */
  readonly listStreams: {
    readonly query?: { readonly page?: number | undefined; readonly page_size?: number | undefined }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly AssetStream[]
    }
  }

  /**
   * List one's own vaults, and those that others share.
   *
   * A bearer token takes `limit` and `cursor` and gets an array; a key takes `page` and
   * `page_size` and gets an envelope. `contains` is for bearer tokens.
   *
   * Needs the permission `vaults:read`.
   */
  readonly listVaults: {
    readonly query?: {
      readonly page?: number | undefined
      readonly page_size?: number | undefined
      readonly limit?: number | undefined

      /** From the answer before. */
      readonly cursor?: string | undefined

      /** A part of the name, in any case, or the beginning of the id: 4 characters of it, or more. */
      readonly contains?: string | undefined
    }
    readonly answer: {
      readonly total_records: number
      readonly current_page: number
      readonly total_pages: number
      readonly content: readonly Vault[]
    }
  }

  /**
   * Read the definition of a data stream, or an asset stream.
   *
   * **With a bearer token:** The definition of a data stream. In place of the secrets of its
   * source there are marks.
   *
   * **With a key:** An asset stream.
   *
   * Needs the permission `streams:read`.
   */
  readonly readStream: {
    readonly path: { readonly streamId: string }
    readonly answer: AssetStream
  }
}

/** Method and path of each operation. */
export const operationPaths = {
  acknowledgeAlert: 'POST /alerts/{alertId}/acknowledge',
  allowFleetDevice: 'POST /fleets/{fleetId}/devices/{device}/allow',
  allowWebhook: 'OPTIONS /hooks/{hookId}',
  archiveInboxEntries: 'POST /notifications/in-app/archive',
  askEmailRecipientAgain: 'POST /notifications/email-configs/{configId}/verification',
  backtestAlerts: 'POST /streams/{streamId}/alerts/backtest',
  cancelBackup: 'POST /backups/{backupId}/cancel',
  cancelExport: 'POST /exports/{exportId}/cancel',
  cancelImport: 'POST /imports/{importId}/cancel',
  changeAlertRule: 'PUT /alert-rules/{alertRuleId}',
  changeBearerWebhook: 'PUT /webhooks/{webhookId}',
  changeDevice: 'PUT /devices/{deviceId}',
  changeEmailRecipient: 'PUT /notifications/email-configs/{configId}',
  changeFleet: 'PUT /fleets/{fleetId}',
  changeKey: 'PUT /keys/{keyId}',
  changeNotificationPreferences: 'PUT /notifications/preferences',
  changeStream: 'PUT /streams/{streamId}',
  changeStreamPermission: 'PUT /streams/{streamId}/permissions/{permissionId}',
  changeTemplate: 'PUT /templates/{templateId}',
  changeVault: 'PUT /vaults/{vaultId}',
  changeVaultPermission: 'PUT /vaults/{vaultId}/permissions/{permissionId}',
  changeVaultRetention: 'PUT /vaults/{vaultId}/retention',
  changeWebhook: 'PUT /notifications/webhooks/{configId}',
  checkDestination: 'POST /notifications/webhooks/check',
  checkSource: 'POST /sources/check',
  clearAlert: 'POST /alerts/{alertId}/clear',
  clearQuarantine: 'DELETE /streams/{streamId}/quarantine',
  commentAlert: 'POST /alerts/{alertId}/comment',
  countUnreadInboxEntries: 'GET /notifications/in-app/unread-count',
  createAccountKey: 'POST /ledger-keys',
  createAlertRule: 'POST /alert-rules',
  createAsset: 'POST /streams/{streamId}/assets',
  createAttachment: 'POST /attachments',
  createBackup: 'POST /backups',
  createBearerWebhook: 'POST /webhooks',
  createCredential: 'POST /users/{userId}/credentials',
  createDevice: 'POST /devices',
  createDevices: 'POST /devices/bulk',
  createEmailRecipient: 'POST /notifications/email-configs',
  createEntity: 'POST /users/{userId}/entities',
  createExport: 'POST /exports',
  createFavorite: 'POST /users/{userId}/favorites',
  createFleet: 'POST /fleets',
  createKey: 'POST /keys',
  createProvisioningKey: 'POST /vaults/{vaultId}/provisioning-keys',
  createSignature: 'POST /attachments/{attachmentId}/signatures',
  createStream: 'POST /streams',
  createStreamOfTopic: 'POST /mqtt/unrouted/streams',
  createStreams: 'POST /streams/bulk',
  createTemplate: 'POST /templates',
  createUser: 'POST /users',
  createVault: 'POST /vaults',
  createWebhook: 'POST /notifications/webhooks',
  deleteAlertRule: 'DELETE /alert-rules/{alertRuleId}',
  deleteAttachment: 'DELETE /attachments/{attachmentId}',
  deleteBearerWebhook: 'DELETE /webhooks/{webhookId}',
  deleteCredential: 'DELETE /users/{userId}/credentials/{partId}',
  deleteDevice: 'DELETE /devices/{deviceId}',
  deleteEmailRecipient: 'DELETE /notifications/email-configs/{configId}',
  deleteEntity: 'DELETE /users/{userId}/entities/{partId}',
  deleteExport: 'DELETE /exports/{exportId}',
  deleteFavorite: 'DELETE /users/{userId}/favorites/{favoriteId}',
  deleteFleet: 'DELETE /fleets/{fleetId}',
  deleteImport: 'DELETE /imports/{importId}',
  deleteInboxEntry: 'DELETE /notifications/in-app/{notificationId}',
  deleteQuarantineEntry: 'DELETE /streams/{streamId}/quarantine/{entryId}',
  deleteStream: 'DELETE /streams/{streamId}',
  deleteTemplate: 'DELETE /templates/{templateId}',
  deleteUser: 'DELETE /users/{userId}',
  deleteVault: 'DELETE /vaults/{vaultId}',
  deleteWebhook: 'DELETE /notifications/webhooks/{configId}',
  denyFleetDevice: 'POST /fleets/{fleetId}/devices/{device}/deny',
  downloadAttachedFile: 'GET /attachments/{attachmentId}/files/{index}',
  downloadAttachment: 'GET /attachments/{attachmentId}/content',
  downloadExportFile: 'GET /exports/{exportId}/files/{name}',
  downloadTemplateBundle: 'GET /templates/{templateId}/bundle',
  downloadTemplateImage: 'GET /templates/{templateId}/image',
  downloadUserPicture: 'GET /users/{userId}/image',
  downloadVaultImage: 'GET /vaults/{vaultId}/image',
  endConsoleSession: 'DELETE /console/sessions/{consoleSessionId}',
  endMqttSession: 'DELETE /mqtt/sessions/{clientId}',
  explainAlert: 'GET /alerts/{alertId}/explain',
  explainDelivery: 'GET /notifications/webhooks/{configId}/deliveries/explain',
  explainNotificationPreferences: 'GET /notifications/preferences/explain',
  exportMetrics: 'POST /v1/metrics',
  followInbox: 'GET /notifications/in-app/stream',
  forgetUnroutedTopics: 'DELETE /mqtt/unrouted',
  getBackup: 'GET /backups/{backupId}',
  getExport: 'GET /exports/{exportId}',
  getImport: 'GET /imports/{importId}',
  grantStreamPermission: 'POST /streams/{streamId}/permissions',
  grantVaultPermission: 'POST /vaults/{vaultId}/permissions',
  importReadings: 'POST /streams/{streamId}/import',
  inferStream: 'POST /streams/infer',
  issueToken: 'POST /auth/token',
  listAccountKeys: 'GET /ledger-keys',
  listAlertRules: 'GET /alert-rules',
  listAlerts: 'GET /alerts',
  listAssets: 'GET /streams/{streamId}/assets',
  listAttachments: 'GET /attachments',
  listAuditLog: 'GET /audit',
  listBackups: 'GET /backups',
  listBearerWebhooks: 'GET /webhooks',
  listConsoleSessions: 'GET /console/sessions',
  listContentKeys: 'GET /.well-known/signing-keys.json',
  listDeliveries: 'GET /notifications/webhooks/{configId}/deliveries',
  listDevices: 'GET /devices',
  listEmailRecipients: 'GET /notifications/email-configs',
  listExports: 'GET /exports',
  listFavorites: 'GET /users/{userId}/favorites',
  listFleetDevices: 'GET /fleets/{fleetId}/devices',
  listFleets: 'GET /fleets',
  listImports: 'GET /imports',
  listInbox: 'GET /notifications/in-app',
  listKeys: 'GET /keys',
  listLedgerKeys: 'GET /.well-known/ledger-keys.json',
  listLedgers: 'GET /ledgers',
  listMailAttempts: 'GET /notifications/email-configs/{configId}/deliveries',
  listMqttSessions: 'GET /mqtt/sessions',
  listProvisioningKeys: 'GET /vaults/{vaultId}/provisioning-keys',
  listPublicKeys: 'GET /.well-known/jwks.json',
  listQuarantine: 'GET /streams/{streamId}/quarantine',
  listQuarantineOfAll: 'GET /quarantine',
  listRefusedReadings: 'GET /streams/{streamId}/refused',
  listSeals: 'GET /streams/{streamId}/seals',
  listSignatures: 'GET /attachments/{attachmentId}/signatures',
  listStreamAlerts: 'GET /streams/{streamId}/alerts',
  listStreamAttachments: 'GET /streams/{streamCode}/attachments',
  listStreamPermissions: 'GET /streams/{streamId}/permissions',
  listStreamVersions: 'GET /streams/{streamId}/versions',
  listStreams: 'GET /streams',
  listTemplates: 'GET /templates',
  listUnroutedTopics: 'GET /mqtt/unrouted',
  listUsers: 'GET /platform/users',
  listVaultPermissions: 'GET /vaults/{vaultId}/permissions',
  listVaults: 'GET /vaults',
  listWebhooks: 'GET /notifications/webhooks',
  lookAtUnsubscription: 'GET /mail/unsubscribe/{token}',
  lookAtVerification: 'GET /mail/verify/{token}',
  markInboxEntryRead: 'PUT /notifications/in-app/{notificationId}/read',
  markInboxRead: 'PUT /notifications/in-app/mark-all-read',
  muteAlert: 'POST /alerts/{alertId}/mute',
  pauseStream: 'POST /streams/{streamId}/pause',
  ping: 'GET /ping',
  previewTransform: 'POST /streams/{streamId}/transform/preview',
  pushReadings: 'POST /streams/{streamId}/data',
  pushReadingsToFleet: 'POST /fleets/{fleetId}/data',
  pushReadingsToFleetDevice: 'POST /fleets/{fleetId}/devices/{device}/data',
  pushReadingsToStreams: 'POST /data',
  queryStreams: 'POST /query',
  readAlert: 'GET /alerts/{alertId}',
  readAlertHistory: 'GET /alerts/{alertId}/history',
  readAlertRule: 'GET /alert-rules/{alertRuleId}',
  readAsset: 'GET /streams/{streamId}/assets/{assetId}',
  readAssetMetadata: 'GET /streams/{streamId}/assets/{assetId}/metadata',
  readAssetProof: 'GET /streams/{streamId}/assets/{assetId}/proof',
  readAsyncApi: 'GET /asyncapi.json',
  readAttachment: 'GET /attachments/{attachmentId}',
  readAttachmentProof: 'GET /attachments/{attachmentId}/proof',
  readBearerWebhook: 'GET /webhooks/{webhookId}',
  readCallingUser: 'GET /users',
  readConsoleSession: 'GET /console/session',
  readConsoleSettings: 'GET /console/settings',
  readDevice: 'GET /devices/{deviceId}',
  readDocs: 'GET /docs',
  readEmailRecipient: 'GET /notifications/email-configs/{configId}',
  readEventCatalogue: 'GET /events/catalogue',
  readFleet: 'GET /fleets/{fleetId}',
  readFleetDevice: 'GET /fleets/{fleetId}/devices/{device}',
  readHealth: 'GET /health',
  readKey: 'GET /keys/{keyId}',
  readLatestOfVault: 'GET /vaults/{vaultId}/latest',
  readLatestReading: 'GET /streams/{streamId}/latest',
  readLiveness: 'GET /health/live',
  readMetrics: 'GET /metrics',
  readMqttSession: 'GET /mqtt/sessions/{clientId}',
  readNotificationPreferences: 'GET /notifications/preferences',
  readOpenApi: 'GET /openapi.json',
  readOverview: 'GET /overview',
  readQuarantineEntry: 'GET /streams/{streamId}/quarantine/{entryId}',
  readReadiness: 'GET /health/ready',
  readReadings: 'GET /streams/{streamId}/data',
  readReceipt: 'GET /streams/{streamId}/receipts',
  readSignature: 'GET /attachments/{attachmentId}/signatures/{signatureId}',
  readSignatureProof: 'GET /attachments/{attachmentId}/signatures/{signatureId}/proof',
  readStream: 'GET /streams/{streamId}',
  readStreamDeletion: 'GET /streams/{streamId}/deletion',
  readStreamMetadata: 'GET /streams/{streamId}/metadata',
  readStreamProof: 'GET /streams/{streamId}/proof',
  readStreamStatus: 'GET /streams/{streamId}/status',
  readTemplate: 'GET /templates/{templateId}',
  readTemplateMetadata: 'GET /templates/{templateId}/metadata',
  readUser: 'GET /users/{userId}',
  readVault: 'GET /vaults/{vaultId}',
  readVaultMetadata: 'GET /vaults/{vaultId}/metadata',
  readVaultProof: 'GET /vaults/{vaultId}/proof',
  readVaultRetention: 'GET /vaults/{vaultId}/retention',
  readWebhook: 'GET /notifications/webhooks/{configId}',
  readWebhookLogs: 'GET /webhooks/{webhookId}/logs',
  receiveWebhook: 'POST /hooks/{hookId}',
  recoverDeliveries: 'POST /notifications/webhooks/{configId}/recover',
  redriveQuarantine: 'POST /streams/{streamId}/quarantine/redrive',
  registerDevice: 'POST /devices/register',
  remoteWrite: 'POST /api/v1/write',
  removeReadings: 'DELETE /streams/{streamId}/data',
  renameFleetDevice: 'POST /fleets/{fleetId}/devices/{device}/rename',
  replaceConsoleSettings: 'PUT /console/settings',
  resendDelivery: 'POST /notifications/webhooks/{configId}/deliveries/{deliveryId}/resend',
  resetNotificationPreferences: 'POST /notifications/preferences/reset',
  resumeExport: 'POST /exports/{exportId}/resume',
  resumeImport: 'POST /imports/{importId}/resume',
  resumeStream: 'POST /streams/{streamId}/resume',
  retryAsset: 'POST /streams/{streamId}/assets/{assetId}/retry',
  retryAttachment: 'POST /attachments/{attachmentId}/retry',
  retrySignature: 'POST /attachments/{attachmentId}/signatures/{signatureId}/retry',
  retryStream: 'POST /streams/{streamId}/retry',
  retryVault: 'POST /vaults/{vaultId}/retry',
  revokeDevice: 'POST /devices/{deviceId}/revoke',
  revokeKey: 'DELETE /keys/{keyId}',
  revokeProvisioningKey: 'DELETE /vaults/{vaultId}/provisioning-keys/{provisioningKeyId}',
  revokeStreamPermission: 'DELETE /streams/{streamId}/permissions/{permissionId}',
  revokeVaultPermission: 'DELETE /vaults/{vaultId}/permissions/{permissionId}',
  rotateContentKey: 'POST /content-keys/rotate',
  rotateDevice: 'POST /devices/{deviceId}/rotate',
  rotateKey: 'POST /keys/{keyId}/rotate',
  rotateSigningKey: 'POST /auth/signing-keys/rotate',
  rotateSourceSecret: 'POST /streams/{streamId}/source/rotate-secret',
  rotateWebhookSecret: 'POST /notifications/webhooks/{configId}/rotate-secret',
  runSource: 'POST /streams/{streamId}/source/run',
  signIn: 'POST /console/session',
  signOut: 'DELETE /console/session',
  summarizeAlerts: 'GET /alerts/summary',
  summarizeQuarantine: 'GET /streams/{streamId}/quarantine/summary',
  summarizeQuarantineOfAll: 'GET /quarantine/summary',
  tailStream: 'GET /streams/{streamId}/tail',
  testWebhook: 'POST /notifications/webhooks/{configId}/test',
  tryQuarantine: 'POST /streams/{streamId}/quarantine/trial',
  unmuteAlert: 'POST /alerts/{alertId}/unmute',
  unsubscribeByMail: 'POST /mail/unsubscribe/{token}',
  uploadFile: 'PUT /uploads/{uploadId}',
  validateReadings: 'POST /streams/{streamId}/validate',
  validateToken: 'GET /auth/validate',
  verifyByMail: 'POST /mail/verify/{token}',
  verifyCid: 'GET /verify/{cid}',
  verifyVault: 'POST /vaults/{vaultId}/verify',
  writeBucketLines: 'POST /api/v2/write',
  writeDatabaseLines: 'POST /write',
} as const

/**
 * The permission that each operation needs, or several with spaces between them; `any`: good
 * credentials are enough.
 */
export const operationScopes = {
  acknowledgeAlert: 'data:write',
  allowFleetDevice: 'streams:write',
  archiveInboxEntries: 'notifications:write',
  askEmailRecipientAgain: 'notifications:write',
  backtestAlerts: 'data:read',
  cancelBackup: 'platform:admin',
  cancelExport: 'data:read',
  cancelImport: 'data:write',
  changeAlertRule: 'streams:write',
  changeBearerWebhook: 'webhooks:write',
  changeDevice: 'keys:admin',
  changeEmailRecipient: 'notifications:write',
  changeFleet: 'streams:write',
  changeKey: 'keys:admin',
  changeNotificationPreferences: 'notifications:write',
  changeStream: 'streams:write',
  changeStreamPermission: 'streams:write',
  changeTemplate: 'vaults:write',
  changeVault: 'vaults:write',
  changeVaultPermission: 'vaults:write',
  changeVaultRetention: 'vaults:write',
  changeWebhook: 'webhooks:write',
  checkDestination: 'webhooks:write',
  checkSource: 'streams:write',
  clearAlert: 'data:write',
  clearQuarantine: 'data:write',
  commentAlert: 'data:write',
  countUnreadInboxEntries: 'notifications:read',
  createAccountKey: 'platform:admin',
  createAlertRule: 'streams:write',
  createAsset: 'streams:write',
  createAttachment: 'attachments:write',
  createBackup: 'platform:admin',
  createBearerWebhook: 'webhooks:write',
  createCredential: 'keys:admin',
  createDevice: 'keys:admin',
  createDevices: 'keys:admin',
  createEmailRecipient: 'notifications:write',
  createEntity: 'keys:admin',
  createExport: 'data:read',
  createFavorite: 'vaults:write',
  createFleet: 'streams:write',
  createKey: 'keys:admin',
  createProvisioningKey: 'keys:admin',
  createSignature: 'attachments:write',
  createStream: 'streams:write',
  createStreamOfTopic: 'streams:write',
  createStreams: 'streams:write',
  createTemplate: 'vaults:write',
  createUser: 'platform:admin',
  createVault: 'vaults:write',
  createWebhook: 'webhooks:write',
  deleteAlertRule: 'streams:write',
  deleteAttachment: 'attachments:write',
  deleteBearerWebhook: 'webhooks:write',
  deleteCredential: 'keys:admin',
  deleteDevice: 'keys:admin',
  deleteEmailRecipient: 'notifications:write',
  deleteEntity: 'keys:admin',
  deleteExport: 'data:read',
  deleteFavorite: 'vaults:write',
  deleteFleet: 'streams:write',
  deleteImport: 'data:write',
  deleteInboxEntry: 'notifications:write',
  deleteQuarantineEntry: 'data:write',
  deleteStream: 'streams:write',
  deleteTemplate: 'vaults:write',
  deleteUser: 'platform:admin',
  deleteVault: 'vaults:write',
  deleteWebhook: 'webhooks:write',
  denyFleetDevice: 'streams:write',
  downloadAttachedFile: 'attachments:read',
  downloadAttachment: 'attachments:read',
  downloadExportFile: 'data:read',
  downloadTemplateBundle: 'vaults:read',
  downloadTemplateImage: 'vaults:read',
  downloadVaultImage: 'vaults:read',
  endConsoleSession: 'any',
  endMqttSession: 'data:write',
  explainAlert: 'data:read',
  explainDelivery: 'webhooks:read',
  explainNotificationPreferences: 'notifications:read',
  exportMetrics: 'data:write',
  followInbox: 'notifications:read',
  forgetUnroutedTopics: 'data:write',
  getBackup: 'platform:admin',
  getExport: 'data:read',
  getImport: 'data:read',
  grantStreamPermission: 'streams:write',
  grantVaultPermission: 'vaults:write',
  importReadings: 'data:write',
  inferStream: 'streams:write',
  listAccountKeys: 'platform:admin',
  listAlertRules: 'streams:read',
  listAlerts: 'data:read',
  listAssets: 'streams:read',
  listAttachments: 'attachments:read',
  listAuditLog: 'platform:admin',
  listBackups: 'platform:admin',
  listBearerWebhooks: 'webhooks:read',
  listConsoleSessions: 'any',
  listDeliveries: 'webhooks:read',
  listDevices: 'streams:read',
  listEmailRecipients: 'notifications:read',
  listExports: 'data:read',
  listFavorites: 'vaults:read',
  listFleetDevices: 'streams:read',
  listFleets: 'streams:read',
  listImports: 'data:read',
  listInbox: 'notifications:read',
  listKeys: 'keys:admin',
  listLedgers: 'any',
  listMailAttempts: 'notifications:read',
  listMqttSessions: 'data:read',
  listProvisioningKeys: 'keys:admin',
  listQuarantine: 'data:read',
  listQuarantineOfAll: 'streams:read data:read',
  listRefusedReadings: 'data:read',
  listSeals: 'data:read',
  listSignatures: 'attachments:read',
  listStreamAlerts: 'data:read',
  listStreamAttachments: 'attachments:read',
  listStreamPermissions: 'streams:write',
  listStreamVersions: 'streams:read',
  listStreams: 'streams:read',
  listTemplates: 'vaults:read',
  listUnroutedTopics: 'data:read',
  listUsers: 'platform:admin',
  listVaultPermissions: 'vaults:write',
  listVaults: 'vaults:read',
  listWebhooks: 'webhooks:read',
  markInboxEntryRead: 'notifications:write',
  markInboxRead: 'notifications:write',
  muteAlert: 'data:write',
  pauseStream: 'streams:write',
  previewTransform: 'streams:read',
  pushReadings: 'data:write',
  pushReadingsToFleet: 'data:write',
  pushReadingsToFleetDevice: 'data:write',
  pushReadingsToStreams: 'data:write',
  queryStreams: 'data:read',
  readAlert: 'data:read',
  readAlertHistory: 'data:read',
  readAlertRule: 'streams:read',
  readAsset: 'streams:read',
  readAssetMetadata: 'streams:read',
  readAssetProof: 'streams:read',
  readAttachment: 'attachments:read',
  readAttachmentProof: 'attachments:read',
  readBearerWebhook: 'webhooks:read',
  readCallingUser: 'any',
  readConsoleSession: 'any',
  readConsoleSettings: 'any',
  readDevice: 'streams:read',
  readEmailRecipient: 'notifications:read',
  readEventCatalogue: 'notifications:read',
  readFleet: 'streams:read',
  readFleetDevice: 'streams:read',
  readKey: 'keys:admin',
  readLatestOfVault: 'data:read',
  readLatestReading: 'data:read',
  readMqttSession: 'data:read',
  readNotificationPreferences: 'notifications:read',
  readOverview: 'streams:read data:read',
  readQuarantineEntry: 'data:read',
  readReadings: 'data:read',
  readReceipt: 'data:read',
  readSignature: 'attachments:read',
  readSignatureProof: 'attachments:read',
  readStream: 'streams:read',
  readStreamDeletion: 'streams:read',
  readStreamMetadata: 'streams:read',
  readStreamProof: 'streams:read',
  readStreamStatus: 'streams:read',
  readTemplate: 'vaults:read',
  readTemplateMetadata: 'vaults:read',
  readUser: 'any',
  readVault: 'vaults:read',
  readVaultMetadata: 'vaults:read',
  readVaultProof: 'vaults:read',
  readVaultRetention: 'vaults:read',
  readWebhook: 'webhooks:read',
  readWebhookLogs: 'webhooks:read',
  recoverDeliveries: 'webhooks:write',
  redriveQuarantine: 'data:write',
  registerDevice: 'any',
  remoteWrite: 'data:write',
  removeReadings: 'data:write',
  renameFleetDevice: 'streams:write',
  replaceConsoleSettings: 'any',
  resendDelivery: 'webhooks:write',
  resetNotificationPreferences: 'notifications:write',
  resumeExport: 'data:read',
  resumeImport: 'data:write',
  resumeStream: 'streams:write',
  retryAsset: 'streams:write',
  retryAttachment: 'attachments:write',
  retrySignature: 'attachments:write',
  retryStream: 'streams:write',
  retryVault: 'vaults:write',
  revokeDevice: 'keys:admin',
  revokeKey: 'keys:admin',
  revokeProvisioningKey: 'keys:admin',
  revokeStreamPermission: 'streams:write',
  revokeVaultPermission: 'vaults:write',
  rotateContentKey: 'platform:admin',
  rotateDevice: 'keys:admin',
  rotateKey: 'keys:admin',
  rotateSigningKey: 'platform:admin',
  rotateSourceSecret: 'streams:write',
  rotateWebhookSecret: 'webhooks:write',
  runSource: 'streams:write',
  signOut: 'any',
  summarizeAlerts: 'data:read',
  summarizeQuarantine: 'data:read',
  summarizeQuarantineOfAll: 'streams:read data:read',
  tailStream: 'data:read',
  testWebhook: 'webhooks:write',
  tryQuarantine: 'data:read',
  unmuteAlert: 'data:write',
  validateReadings: 'data:write',
  validateToken: 'any',
  verifyVault: 'vaults:write',
  writeBucketLines: 'data:write',
  writeDatabaseLines: 'data:write',
} as const

/** A reading, and the stream that it belongs to. */
export type AddressedReading = {
  readonly streamId: string
  readonly timestamp?: string | undefined
  readonly [name: string]: unknown
}
export type Alert = {
  readonly alertId: string
  readonly streamId: string
  readonly vaultId: string
  readonly ruleId: string
  readonly field: string | null
  readonly severity: 'info' | 'warning' | 'critical'
  readonly state: 'pending' | 'firing' | 'acknowledged' | 'cleared'

  /** What was judged last when the alert moved. */
  readonly value: number | string | boolean | null

  /** What it was compared with; of a silence its seconds. */
  readonly threshold: number | string | boolean | null

  /** When it began, by the clock of the service. */
  readonly createdAt: string

  /** By the time of the readings. */
  readonly triggeredAt: string | null

  /** By the time of the readings. */
  readonly clearedAt: string | null
  readonly acknowledgedAt: string | null

  /** The id of the user. */
  readonly acknowledgedBy: string | null
  readonly mutedUntil: string | null
  readonly flapping: boolean

  /**
   * Grows by one with each event of this rule and stream; here that of the newest event of the
   * alert.
   */
  readonly sequence: number | null
  readonly rule: AlertRule
}

/**
 * A comparison (operator and threshold, of a field or a function of it), silentFor, or a
 * condition.
 */
export type AlertRule = {
  /** What it is about, if not given. */
  readonly id?: string | undefined
  readonly severity?: 'info' | 'warning' | 'critical' | undefined
  readonly field?: string | undefined
  readonly operator?: '>' | '>=' | '<' | '<=' | '==' | '!=' | undefined
  readonly threshold?: number | string | boolean | undefined

  /** What ends the alert. The threshold, if not given. */
  readonly clearThreshold?: number | undefined

  /** How long it has to hold. At once, if not given. */
  readonly for?: string | undefined

  /** How long it has to be over. */
  readonly clearFor?: string | undefined

  /** Of the readings of a window; rate is the change per second between two readings. */
  readonly function?:
    | 'avg'
    | 'min'
    | 'max'
    | 'sum'
    | 'count'
    | 'first'
    | 'last'
    | 'range'
    | 'stddev'
    | 'rate'
    | undefined
  readonly window?: string | undefined

  /** Broken when nothing arrives for so long. */
  readonly silentFor?: string | undefined

  /** In CEL, over the fields of a reading. */
  readonly condition?: string | undefined
}
export type AmqpSource = {
  /** what is spoken */
  readonly protocol: 'amqp'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /**
   * `amqp://host:port/vhost`, or `amqps://` with TLS. The ports are 5672 and 5671, and the
   * virtual host is `/`, if nothing is said. A slash in its name is written `%2F`
   */
  readonly endpoint: string

  /** the name of a queue. It has to be there: the service does not make queues for others */
  readonly topic?: string | undefined

  /** the name of an exchange that is there; instead of `topic` */
  readonly exchange?: string | undefined

  /**
   * what the queue is bound with; empty if nothing is said, as an exchange of type `fanout`
   * has it
   */
  readonly routingKey?: string | undefined

  /**
   * several of them: up to 100 objects with a `routingKey`, with `arguments`, or both. An
   * exchange of type `headers` takes `{"arguments": {"x-match": "all", "floor": 7}}`
   */
  readonly bindings?:
    | readonly {
        /** The routing key. */
        readonly routingKey?: string | undefined

        /** Of an exchange of headers. */
        readonly arguments?: Readonly<Record<string, string | number | boolean>> | undefined
      }[]
    | undefined

  /** the name of our own queue. Without it, it is `streamvault-` and the id of the stream */
  readonly group?: string | undefined

  /** what our own queue is made as. Of a `topic` it has to be said where it is a `stream` */
  readonly queueType?: 'classic' | 'quorum' | 'stream' | undefined

  /** that the server may send before the first is acknowledged */
  readonly prefetch?: number | undefined

  /**
   * `username` and `password`; or `certificate` and `privateKey` over `amqps` (SASL EXTERNAL).
   * Without them it is `guest`
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /** the `ca` to trust, and the `servername` to expect */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type ApiSource = {
  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of CSV: lines before the first reading, which are left out */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** `http://` or `https://`, with a query where it needs one; no credentials in it */
  readonly endpoint: string

  /** of the request */
  readonly method?: 'GET' | 'POST' | 'PUT' | undefined

  /**
   * up to 50. They are secrets, like passwords. Those of the connection and of the length are
   * ours, and so are `accept-encoding`, `range` and those of conditional requests
   */
  readonly headers?: Readonly<Record<string, string>> | undefined

  /** who is asking: [`none`, `basic`, `bearer`, `apiKey`, `oauth2`](api-pull.md#authentication) */
  readonly authentication?:
    | {
        /** how it is proved who asks */
        readonly type: 'none' | 'basic' | 'bearer' | 'apiKey' | 'oauth2'

        /** of `basic` */
        readonly username?: string | undefined

        /** of `basic` */
        readonly password?: string | undefined

        /** of `bearer` */
        readonly token?: string | undefined

        /** of `apiKey`: what the header, or the parameter, is called */
        readonly name?: string | undefined

        /** of `apiKey` */
        readonly value?: string | undefined

        /** of `apiKey`: where it stands */
        readonly in?: 'header' | 'query' | undefined

        /** of `oauth2`: who gives tokens */
        readonly tokenUrl?: string | undefined

        /** of `oauth2` */
        readonly clientId?: string | undefined

        /** of `oauth2` */
        readonly clientSecret?: string | undefined

        /** of `oauth2` */
        readonly scope?: string | undefined

        /** of `oauth2`: where the secret stands in the request for a token */
        readonly secretIn?: 'header' | 'body' | undefined
      }
    | undefined

  /**
   * `ca`: whom to trust, in PEM; the usual authorities when left out. `servername`: whom to
   * expect where that is not the host
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /**
   * with POST and PUT: a text, which is sent as it is, or anything else, which is sent as
   * JSON; at most 64 KiB
   */
  readonly body?: unknown

  /**
   * for all of one request, from the look-up of the name to the last byte of the answer; an
   * hour at most
   */
  readonly timeout?: string | undefined

  /**
   * of XML with `format: csv`: where in the answer the records are, as names with dots between
   * them. Of JSON as well, where it is cut out of the answer: `items` says more
   */
  readonly itemsPath?: string | undefined

  /** [below](#pages); without it there is one page */
  readonly pagination?:
    | {
        /** how the next page is asked for */
        readonly type: 'page' | 'offset' | 'cursor' | 'link'

        /** of the next page; what its `type` is called, without it */
        readonly parameter?: string | undefined

        /** where the parameter stands */
        readonly in?: 'query' | 'body' | undefined

        /** of the size of a page */
        readonly sizeParameter?: string | undefined

        /** of one page */
        readonly pageSize?: number | undefined

        /** of `cursor`: where the answer has the next one */
        readonly cursorPath?: string | undefined

        /** of `page`: the number of the first one */
        readonly firstPage?: number | undefined

        /** pages of one round */
        readonly pagesMax?: number | undefined
      }
    | undefined

  /**
   * [when it is asked](schedules.md): a cron expression, with seconds if it has six fields.
   * Once a second is the most: `* * * * * *`
   */
  readonly schedule: string

  /** of the schedule, and of times that name no zone */
  readonly timezone?: string | undefined

  /**
   * keeps many streams from asking in the same second: each waits a part of it, always the
   * same
   */
  readonly jitter?: string | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type Asset = {
  readonly id: string
  readonly created_at: string
  readonly stream_id: string

  /** In full units. */
  readonly supply: string

  /** Decimal places of a full unit. */
  readonly precision: number
  readonly status: string
  readonly ledger: Ledger

  /** Of the transaction that it comes to be with. */
  readonly tx_hash: string
  readonly failure: {
    /** A code, such as `upload_expired`. */
    readonly error: string
    readonly message: string
  } | null
  readonly progress: readonly ProgressEntry[]
}
export type AssetStream = {
  readonly id: string
  readonly created_at: string
  readonly asset_code: string
  readonly description: string | null
  readonly ledger: Ledger
  readonly tx_hash: string
  readonly status: string
  readonly issuer: string
  readonly distribution_wallet: string
  readonly mapping: string
  readonly metadata_cid: string
  readonly progress: readonly ProgressEntry[]
  readonly failure: {
    /** A code, such as `upload_expired`. */
    readonly error: string
    readonly message: string
  } | null
}
export type AssetStreamChange = { readonly description?: string | null | undefined }
export type AttachedFile = {
  /** Of an archive: the path within it. */
  readonly name: string

  /** Bytes. */
  readonly size: number
  readonly media_type: string

  /** CIDv1. */
  readonly cid: string

  /** Hex. */
  readonly sha256: string
}
export type Attachment = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly created_at: string
  readonly ledger: Ledger
  readonly status: string

  /** Takes the file by PUT, for 15 minutes; empty when there is nothing to upload. */
  readonly presigned_url: string
  readonly stream_id: string
  readonly filename: string | null
  readonly tx_hash: string
  readonly upload_as_zip: boolean

  /** Bytes of all files. */
  readonly size: number
  readonly stream: AssetStream
  readonly file_count: number

  /** In lists, the first hundred. */
  readonly files: readonly AttachedFile[]
  readonly progress: readonly ProgressEntry[]
  readonly failure: {
    /** A code, such as `upload_expired`. */
    readonly error: string
    readonly message: string
  } | null
}
export type AuditEntry = {
  readonly id: string
  readonly timestamp: string
  readonly action:
    | 'key.created'
    | 'key.changed'
    | 'key.rotated'
    | 'key.revoked'
    | 'user.created'
    | 'user.deleted'
    | 'signing_key.rotated'
    | 'content_key.rotated'
    | 'ledger_key.created'
    | 'ledger_key.imported'
    | 'device.created'
    | 'device.changed'
    | 'device.rotated'
    | 'device.revoked'
    | 'device.deleted'
    | 'provisioning_key.created'
    | 'provisioning_key.revoked'
    | 'backup.started'
    | 'webhook.created'
    | 'webhook.changed'
    | 'webhook.rotated'
    | 'webhook.deleted'
    | 'alert_rule.created'
    | 'alert_rule.changed'
    | 'alert_rule.deleted'
    | 'fleet.created'
    | 'fleet.changed'
    | 'fleet.deleted'
    | 'fleet.device_allowed'
    | 'fleet.device_denied'
    | 'fleet.device_renamed'
    | 'email.created'
    | 'email.changed'
    | 'email.deleted'
    | 'email.verified'
    | 'email.unsubscribed'
    | 'console_session.created'
    | 'console_session.ended'
    | 'permission.granted'
    | 'permission.changed'
    | 'permission.ended'
    | 'login.failed'
  readonly actorUserId: string | null
  readonly actorKeyId: string | null
  readonly subjectId: string | null

  /** The user that it is about. */
  readonly userId: string | null
  readonly address: string | null
  readonly details: Readonly<Record<string, unknown>>
}
export type BacktestAlert = {
  readonly ruleId: string
  readonly severity: 'info' | 'warning' | 'critical'
  readonly triggeredAt: string

  /** Null where it goes on at the end. */
  readonly clearedAt: string | null

  /** When the rule was first broken: earlier, with `for`. */
  readonly since: string

  /** What was compared when it began. */
  readonly value: unknown

  /** A number, a text, true or false; null for silence. */
  readonly threshold: unknown
  readonly flapping: boolean
  readonly flaps: number

  /** Around its beginning, with the fields that rules look at. */
  readonly readings: readonly { readonly timestamp: string; readonly [name: string]: unknown }[]
}
export type Backup = {
  readonly backupId: string
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled'

  /**
   * An absolute path of an empty or new folder of the machine of the service, or
   * `s3://bucket/prefix?endpoint=https://host`.
   */
  readonly to: string
  readonly withMasterKey: boolean
  readonly createdAt: string
  readonly finishedAt: string | null

  /** Of one that is running. */
  readonly progress: {
    readonly phase: 'time-series' | 'state' | 'journal' | 'files' | 'packing' | 'done'
    readonly bytesDone: number

    /** As far as it is known by now. */
    readonly bytesTotal: number
  } | null

  /** Why it is not complete. */
  readonly error: string | null

  /** What to do about the error, for people. */
  readonly remedy: string | null

  /** Of all files of a completed one. */
  readonly bytes: number | null

  /** Readings that were received before it. */
  readonly received: number | null

  /** Files of users that were gone, or had another size, when it was made. */
  readonly lostFiles: number | null

  /** Offsets of the journal. All that was acknowledged before `journalTo` is in the backup. */
  readonly positions: {
    readonly store: number
    readonly decider: number
    readonly journalFrom: number
    readonly journalTo: number
  } | null
  readonly files:
    | readonly {
        readonly name: string

        /** Of the file as it lies there, packed. */
        readonly bytes: number
        readonly contentBytes: number

        /** Of the file as it lies there, hexadecimal. */
        readonly sha256: string
      }[]
    | null
}
export type BacnetSource = {
  /** what is spoken */
  readonly protocol: 'bacnet'

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** `bacnet://host:port` (port 47808 where none is given): the address of the device itself */
  readonly endpoint: string

  /** up to 256 fields, [below](#objects) */
  readonly objects: readonly {
    /** of the schema */
    readonly field: string

    /** type and instance: `analog-input:1`, or with the number of the type, `0:1` */
    readonly object: string

    /** a name, or a number: `103` */
    readonly property?:
      | 'present-value'
      | 'out-of-service'
      | 'reliability'
      | 'event-state'
      | 'object-name'
      | 'description'
      | 'units'
      | 'min-pres-value'
      | 'max-pres-value'
      | 'high-limit'
      | 'low-limit'
      | 'relinquish-default'
      | 'controlled-variable-value'
      | 'setpoint'
      | 'system-status'
      | 'firmware-revision'
      | 'model-name'
      | 'vendor-name'
      | number
      | undefined

    /** a number is what the device says times `scale` */
    readonly scale?: number | undefined

    /** added to it */
    readonly offset?: number | undefined
  }[]

  /** for each answer; 20 seconds at most. A request is repeated twice, as datagrams may be lost */
  readonly timeout?: string | undefined

  /**
   * [when it is asked](schedules.md): a cron expression, with seconds if it has six fields.
   * Once a second is the most: `* * * * * *`
   */
  readonly schedule: string

  /** of the schedule, and of times that name no zone */
  readonly timezone?: string | undefined

  /**
   * keeps many streams from asking in the same second: each waits a part of it, always the
   * same
   */
  readonly jitter?: string | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type BearerVault = {
  readonly vaultId: string
  readonly createdAt: string
  readonly name: string
  readonly description: string | null
  readonly templateId: string
  readonly status: string
  readonly ledger: Ledger
  readonly public: boolean
}
export type BearerWebhook = {
  readonly webhookId: string
  readonly url: string
  readonly events: readonly string[]
  readonly secret: string | null
  readonly active: boolean
  readonly filters: {
    readonly vaultIds: readonly string[]
    readonly templateIds: readonly string[]
    readonly userIds: readonly string[]
    readonly severities: readonly ('info' | 'warning' | 'critical')[]
  }
  readonly timeout: number
  readonly retryCount: number
  readonly retryDelay: number
  readonly headers: Readonly<Record<string, string>>
  readonly createdAt: string
  readonly warnings: readonly string[]
}
export type BearerWebhookChange = {
  /** http or https, port 80 or 443, and no private address. */
  readonly url?: string | undefined
  readonly events?:
    | readonly (
        | 'vault.created'
        | 'vault.completed'
        | 'vault.failed'
        | 'vault.error'
        | 'vault.deleted'
        | 'stream.created'
        | 'stream.completed'
        | 'stream.failed'
        | 'stream.error'
        | 'stream.deleted'
        | 'data_attachment.created'
        | 'data_attachment.completed'
        | 'data_attachment.failed'
        | 'data_attachment.deleted'
        | 'signature.created'
        | 'signature.completed'
        | 'signature.failed'
        | 'signature.error'
        | 'asset.created'
        | 'asset.deployed'
        | 'asset.error'
        | 'vault.permission.granted'
        | 'vault.permission.revoked'
        | 'vault.permission.updated'
        | 'stream.permission.granted'
        | 'stream.permission.revoked'
        | 'stream.permission.updated'
        | 'vault.updated'
        | 'stream.updated'
        | 'data_attachment.updated'
        | 'data_attachment.received'
        | 'signature.updated'
        | 'asset.updated'
        | 'vault.data_updated'
        | 'vault.permission_changed'
        | 'vault.verification_complete'
        | 'vault.accessed'
        | 'stream.data_received'
        | 'stream.alert_triggered'
        | 'stream.alert_cleared'
      )[]
    | undefined

  /** What requests are signed with; null: they are not. */
  readonly secret?: string | null | undefined

  /** false: PAUSED. */
  readonly active?: boolean | undefined

  /**
   * An event has to meet each of them; `userIds` are those whose resource it is about, and
   * `severities` those of alerts.
   */
  readonly filters?:
    | {
        readonly vaultIds?: readonly string[] | undefined
        readonly templateIds?: readonly string[] | undefined
        readonly userIds?: readonly string[] | undefined
        readonly severities?: readonly ('info' | 'warning' | 'critical')[] | undefined
      }
    | undefined

  /** Seconds that one attempt may take. */
  readonly timeout?: number | undefined

  /** Attempts after the first one. */
  readonly retryCount?: number | undefined

  /** Seconds before the second attempt; twice as many before each further one. */
  readonly retryDelay?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}
export type ChangedDevice = {
  readonly name?: string | undefined
  readonly streamIds?: readonly string[] | undefined

  /** The only MQTT client id that it may connect with. */
  readonly clientId?: string | null | undefined

  /** Common name of the client certificates that stand for it; unique in the service. */
  readonly certificateName?: string | null | undefined
  readonly rateLimit?:
    | { readonly readingsPerSecond: number; readonly burst: number }
    | null
    | undefined

  /** RFC 3339, with a zone. */
  readonly expiresAt?: string | null | undefined

  /**
   * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
   * subscriptions and its messages, and drops them.
   */
  readonly foreignTopics?: 'refuse' | 'ignore' | undefined

  /** Lets the device register itself once more, which gives it new secrets. */
  readonly mayRegisterAgain?: boolean | undefined
}
export type ChangedKey = {
  /**
   * What its MQTT clients do on topics that are not its own: `ignore` takes wills,
   * subscriptions and messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'
}
export type CoapSource = {
  /** what is spoken */
  readonly protocol: 'coap'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /**
   * `coap://host:port/path?query`; the port is 5683 if nothing else is said;
   * [secrets](api-pull.md#secrets-in-other-places) in path and query as `${name}`
   */
  readonly endpoint: string

  /**
   * number of the Content-Format that the device is asked for: 50 is JSON, 60 is CBOR. Nothing
   * is asked for without it
   */
  readonly accept?: number | undefined

  /** a name of the device, for you */
  readonly deviceId?: string | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type ConsoleSession = {
  readonly id: string
  readonly apiKeyId: string
  readonly keyName: string
  readonly createdAt: string
  readonly lastUsedAt: string

  /** Then it is over, however much it is used. */
  readonly expiresAt: string

  /** Then it is over, unless it is used before. */
  readonly idleExpiresAt: string

  /** Where the browser signed in from. */
  readonly address: string

  /** Whether it is the one of this request. */
  readonly current: boolean
}
export type ConsoleSettings = {
  /** Colours of the page. */
  readonly theme: 'system' | 'light' | 'dark'

  /** What times are shown in: `browser`, or a name of the IANA database. */
  readonly timeZone: string

  /** Whether single keys do something. */
  readonly shortcuts: boolean
}
export type Credential = {
  readonly id: string
  readonly created_at: string
  readonly type: 'EMAIL'
  readonly validated: boolean
  readonly identity_provider: string
  readonly key: string

  /** No secret is kept: always empty. */
  readonly secret: ''
  readonly ledger: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM'
}
export type CurrentConsoleSession = {
  readonly id: string
  readonly user: { readonly id: string; readonly username: string }
  readonly apiKeyId: string
  readonly scopes: readonly (
    | 'vaults:read'
    | 'vaults:write'
    | 'streams:read'
    | 'streams:write'
    | 'data:read'
    | 'data:write'
    | 'attachments:read'
    | 'attachments:write'
    | 'notifications:read'
    | 'notifications:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'keys:admin'
    | 'platform:admin'
  )[]

  /** Then it is over, however much it is used. */
  readonly expiresAt: string

  /** Then it is over, unless it is used before. */
  readonly idleExpiresAt: string
  readonly service: {
    readonly version: string
    readonly http: string

    /** Null: there is no MQTT without TLS. */
    readonly mqtt: string | null

    /** Null: there is no MQTT over TLS. */
    readonly mqtts: string | null

    /** What the time series are in. */
    readonly store: 'duckdb' | 'questdb'

    /** Whether it sends mail. */
    readonly mail: boolean
  }
}

/** The fields of the stream beside the time; unknown ones under `extra`. */
export type DataPoint = {
  /** Of the reading, or the start of its bucket. */
  readonly timestamp: string
  readonly extra?: Readonly<Record<string, unknown>> | undefined

  /** Readings in the bucket or window. */
  readonly count?: number | undefined

  /** Of a window: 1 at first, and higher each time it has become another. */
  readonly revision?: number | undefined

  /** Of a window: null while it is open or being revised. */
  readonly computedAt?: string | null | undefined
  readonly [name: string]: unknown
}
export type DataStream = {
  readonly streamId: string
  readonly name: string
  readonly vaultId: string
  readonly type:
    | 'iot_sensor'
    | 'api_pull'
    | 'event_stream'
    | 'database'
    | 'manufacturing'
    | 'building_systems'
    | 'occupancy'
    | 'service'
  readonly status: 'created' | 'active' | 'paused' | 'error'

  /** Where readings are pushed to. */
  readonly endpoint: string
  readonly createdAt: string

  /** Of a source with the protocol webhook: where messages are sent to. */
  readonly webhookUrl?: string | undefined

  /** What is probably a mistake, if there is anything. */
  readonly warnings?: readonly string[] | undefined
}

/**
 * What is not sent stays. Of source, schema, processing and tags each member stays, is
 * replaced completely, or is removed with null; null for source, processing or tags takes
 * away all of their members.
 */
export type DataStreamChange = {
  readonly name?: string | undefined
  readonly source?: Source | null | undefined
  readonly schema?: Readonly<Record<string, Field | null>> | undefined
  readonly processing?:
    | {
        readonly validation?: 'lenient' | 'strict' | undefined
        readonly frequency?: string | undefined
        readonly aggregation?: 'average' | 'latest' | 'min' | 'max' | 'sum' | 'count' | undefined

        /**
         * What happens to a reading before it is stored, step by step. Each step is one of rename
         * {from, to}, convert {field, from, to}, scale {field, factor, offset}, derive {field, type,
         * expression}, filter {expression} and drop {field}. Expressions are in CEL.
         */
        readonly transform?: readonly Readonly<Record<string, unknown>>[] | undefined

        /**
         * Drops readings that say the same as the one before; one is kept in each window of
         * frequency.
         */
        readonly deduplicate?: boolean | undefined

        /** How long data is kept, by its own time. What is left out is as the vault says. */
        readonly retention?:
          | {
              /** Readings. */
              readonly raw?: string | undefined

              /** Results of windows. */
              readonly aggregated?: string | undefined
            }
          | undefined

        /** How long the stretches of time are whose readings are sealed: 15m to 24h. */
        readonly seal?: string | undefined

        /**
         * Alert rules: a list, or for each field {min, max} or a list; none where it is false or
         * null. At most 50 with those of the other key.
         */
        readonly alertThresholds?:
          | readonly AlertRule[]
          | Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>
          | false
          | null
          | undefined

        /**
         * Alert rules: a list, or for each field {min, max} or a list; none where it is false or
         * null. At most 50 with those of the other key.
         */
        readonly alerting?:
          | readonly AlertRule[]
          | Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>
          | false
          | null
          | undefined
      }
    | null
    | undefined

  /** Texts to find the stream by: at most 32. */
  readonly tags?: Readonly<Record<string, string | null>> | null | undefined
}
export type DataStreamDefinition = {
  readonly streamId: string
  readonly name: string
  readonly vaultId: string
  readonly type:
    | 'iot_sensor'
    | 'api_pull'
    | 'event_stream'
    | 'database'
    | 'manufacturing'
    | 'building_systems'
    | 'occupancy'
    | 'service'
  readonly status: 'created' | 'active' | 'paused' | 'error'

  /** Where readings are pushed to. */
  readonly endpoint: string
  readonly createdAt: string

  /** The fleet that has its definition. */
  readonly fleetId?: string | undefined

  /** The name of its device in the fleet. */
  readonly device?: string | undefined

  /** Of a source with the protocol webhook: where messages are sent to. */
  readonly webhookUrl?: string | undefined

  /** What is probably a mistake, if there is anything. */
  readonly warnings?: readonly string[] | undefined

  /** Texts to find the stream by: at most 32. */
  readonly tags: Readonly<Record<string, string>>
  readonly version: number
  readonly source: Readonly<Record<string, unknown>>
  readonly schema: Readonly<Record<string, Field>>
  readonly processing: Readonly<Record<string, unknown>>
}
export type DataStreamVersion = {
  readonly version: number
  readonly createdAt: string

  /** The key that made it. */
  readonly createdBy: string | null
  readonly name: string

  /** Texts to find the stream by: at most 32. */
  readonly tags: Readonly<Record<string, string>>
  readonly source: Readonly<Record<string, unknown>>
  readonly schema: Readonly<Record<string, Field>>
  readonly processing: Readonly<Record<string, unknown>>
}
export type DeliveryAttempt = {
  readonly id: string
  readonly created_at: string
  readonly delivery_id: string
  readonly event_id: string
  readonly event_type: string
  readonly attempt: number

  /** None without an answer. */
  readonly status_code: number | null
  readonly duration_ms: number
  readonly message: string
  readonly delivered: boolean
  readonly attempted_at: string
  readonly next_attempt_at: string | null

  /** The values of custom headers are not shown. */
  readonly request_headers: Readonly<Record<string, string>>

  /** The first 1,024 bytes of the answer. */
  readonly response_excerpt: string
}
export type DestinationQuestion = { readonly url: string }
export type Device = {
  /** The same as apiKey, as paths name it. */
  readonly id: string

  /** The MQTT user name, and x-api-key. */
  readonly apiKey: string
  readonly name: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly streamIds: readonly string[]

  /** The only MQTT client id that it may connect with. */
  readonly clientId: string | null

  /** Common name of the client certificates that stand for it; unique in the service. */
  readonly certificateName: string | null
  readonly rateLimit: { readonly readingsPerSecond: number; readonly burst: number } | null

  /**
   * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
   * subscriptions and its messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'

  /** What its own topics of MQTT begin with. */
  readonly commandTopic: string

  /** What it registered itself as. */
  readonly serial: string | null
  readonly mayRegisterAgain: boolean
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly rotatedAt: string | null

  /** Until then the secret before the last rotation is good, too. */
  readonly previousSecretUntil: string | null

  /** Written down about once a minute. */
  readonly lastSeen: {
    readonly at: string
    readonly address: string
    readonly protocol: string
  } | null

  /** Messages over MQTT to topics that are not its own, since the service started. */
  readonly droppedPublishes: number
}

/**
 * A reading, with the name of its device in the member that `source.deviceField` of the
 * fleet names.
 */
export type DeviceReading = {
  readonly timestamp?: string | undefined
  readonly [name: string]: unknown
}
export type DeviceSource = {
  /** what is spoken */
  readonly protocol: 'mqtt' | 'http'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** a name of the device, for you */
  readonly deviceId?: string | undefined

  /**
   * the filter to subscribe to; `+` and `#` stand for complete levels. Required with an
   * `endpoint`
   */
  readonly topic?: string | undefined

  /**
   * `mqtt://`, `mqtts://`, `ws://` or `wss://`, host and port (1883, 8883, 80, 443 when left
   * out); a WebSocket may have a path, often `/mqtt`, and a query, with
   * [secrets](api-pull.md#secrets-in-other-places) as `${name}`
   */
  readonly endpoint?: string | undefined

  /**
   * `username` and `password`, or `certificate` and `privateKey` (PEM, no pass phrase), or all
   * four
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /** the highest that messages come with. With 0 the broker keeps nothing for us */
  readonly qos?: number | undefined

  /**
   * `streamvault-` and the id of the stream when left out. No two clients of a broker may have
   * the same
   */
  readonly clientId?: string | undefined

  /** subscribes to `$share/GROUP/TOPIC`: the broker divides the messages among all in the group */
  readonly sharedGroup?: string | undefined

  /**
   * `skip` leaves out what the broker sends because it was retained, which may be from long
   * ago; `keep` takes it. `skip` when left out and readings have no time of their own (no
   * `timestampField`)
   */
  readonly retained?: 'skip' | 'keep' | undefined

  /** `5`, `4` (MQTT 3.1.1), `3` (MQTT 3.1) or `auto`: 5, and 3.1.1 where the broker refuses it */
  readonly version?: 3 | 4 | 5 | 'auto' | undefined

  /**
   * `ca`: whom to trust, PEM; the usual authorities when left out. `servername`: whom to
   * expect where that is not the host
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type DeviceSourceUnnamed = {
  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** a name of the device, for you */
  readonly deviceId?: string | undefined

  /**
   * the filter to subscribe to; `+` and `#` stand for complete levels. Required with an
   * `endpoint`
   */
  readonly topic?: string | undefined

  /**
   * `mqtt://`, `mqtts://`, `ws://` or `wss://`, host and port (1883, 8883, 80, 443 when left
   * out); a WebSocket may have a path, often `/mqtt`, and a query, with
   * [secrets](api-pull.md#secrets-in-other-places) as `${name}`
   */
  readonly endpoint?: string | undefined

  /**
   * `username` and `password`, or `certificate` and `privateKey` (PEM, no pass phrase), or all
   * four
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /** the highest that messages come with. With 0 the broker keeps nothing for us */
  readonly qos?: number | undefined

  /**
   * `streamvault-` and the id of the stream when left out. No two clients of a broker may have
   * the same
   */
  readonly clientId?: string | undefined

  /** subscribes to `$share/GROUP/TOPIC`: the broker divides the messages among all in the group */
  readonly sharedGroup?: string | undefined

  /**
   * `skip` leaves out what the broker sends because it was retained, which may be from long
   * ago; `keep` takes it. `skip` when left out and readings have no time of their own (no
   * `timestampField`)
   */
  readonly retained?: 'skip' | 'keep' | undefined

  /** `5`, `4` (MQTT 3.1.1), `3` (MQTT 3.1) or `auto`: 5, and 3.1.1 where the broker refuses it */
  readonly version?: 3 | 4 | 5 | 'auto' | undefined

  /**
   * `ca`: whom to trust, PEM; the usual authorities when left out. `servername`: whom to
   * expect where that is not the host
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type DeviceWithSecret = {
  /** The same as apiKey, as paths name it. */
  readonly id: string

  /** The MQTT user name, and x-api-key. */
  readonly apiKey: string
  readonly name: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly streamIds: readonly string[]

  /** The only MQTT client id that it may connect with. */
  readonly clientId: string | null

  /** Common name of the client certificates that stand for it; unique in the service. */
  readonly certificateName: string | null
  readonly rateLimit: { readonly readingsPerSecond: number; readonly burst: number } | null

  /**
   * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
   * subscriptions and its messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'

  /** What its own topics of MQTT begin with. */
  readonly commandTopic: string

  /** What it registered itself as. */
  readonly serial: string | null
  readonly mayRegisterAgain: boolean
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly rotatedAt: string | null

  /** Until then the secret before the last rotation is good, too. */
  readonly previousSecretUntil: string | null

  /** Written down about once a minute. */
  readonly lastSeen: {
    readonly at: string
    readonly address: string
    readonly protocol: string
  } | null

  /** Messages over MQTT to topics that are not its own, since the service started. */
  readonly droppedPublishes: number

  /** The MQTT password, and x-api-secret. Shown this once. */
  readonly apiSecret: string
}
export type EmailRecipient = {
  readonly id: string
  readonly created_at: string
  readonly email: string

  /**
   * PENDING_VERIFICATION: nothing is sent before the link in the mail to it was followed.
   * DISABLED: switched off, unsubscribed, or failed too often.
   */
  readonly status: 'PENDING_VERIFICATION' | 'ACTIVE' | 'DISABLED'
  readonly verified_at: string | null
  readonly filters: { readonly severities: readonly ('info' | 'warning' | 'critical')[] }
  readonly consecutive_failures: number

  /** When the mail server last took one. */
  readonly last_delivery_at: string | null
}
export type EmailRecipientChange = {
  readonly status?: 'ACTIVE' | 'DISABLED' | undefined

  /**
   * Of which alerts it is notified; an empty list leaves nothing out. No other events have a
   * severity.
   */
  readonly filters?:
    | { readonly severities?: readonly ('info' | 'warning' | 'critical')[] | undefined }
    | undefined
}
export type Entity = {
  readonly id: string
  readonly created_at: string
  readonly name: string
  readonly description: string
  readonly type: 'LEGAL_ENTITY'
}
export type ErrorBody = {
  /** A stable code; see the catalogue of errors. */
  readonly error: string

  /** What is wrong, for people. */
  readonly message: string
  readonly statusCode: number

  /** What to do about it, for people. */
  readonly remedy: string

  /** Seconds until another try makes sense. */
  readonly retryAfter?: number | undefined
  readonly details?: readonly ErrorDetail[] | undefined
  readonly [name: string]: unknown
}
export type ErrorDetail = {
  /** Where, as a dotted path; empty for all of it. */
  readonly path: string
  readonly message: string
}
export type Export = {
  readonly exportId: string
  readonly streamIds: readonly string[]
  readonly start: string
  readonly end: string
  readonly format: 'parquet' | 'csv' | 'ndjson'
  readonly aggregation: string
  readonly tz: string
  readonly fields: readonly string[] | null

  /** In the finished files. */
  readonly rows: number

  /** Of the finished files. */
  readonly bytes: number
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly progress: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null

  /** When it is removed with all it has made. */
  readonly expiresAt: string | null

  /** Why it has failed. */
  readonly failure: {
    readonly error: string
    readonly message: string
    readonly remedy: string
  } | null
}
export type ExportWithFiles = {
  readonly exportId: string
  readonly streamIds: readonly string[]
  readonly start: string
  readonly end: string
  readonly format: 'parquet' | 'csv' | 'ndjson'
  readonly aggregation: string
  readonly tz: string
  readonly fields: readonly string[] | null

  /** In the finished files. */
  readonly rows: number

  /** Of the finished files. */
  readonly bytes: number
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly progress: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null

  /** When it is removed with all it has made. */
  readonly expiresAt: string | null

  /** Why it has failed. */
  readonly failure: {
    readonly error: string
    readonly message: string
    readonly remedy: string
  } | null

  /** The finished ones, in the order of their streams and times. */
  readonly files: readonly {
    readonly name: string
    readonly streamId: string
    readonly rows: number
    readonly bytes: number
    readonly sha256: string
  }[]
}
export type Favorite = {
  readonly id: string
  readonly created_at: string
  readonly type: 'NFT' | 'TOKEN'

  /** What it refers to: the service does not look into it. */
  readonly ref: string
}
export type Field = {
  readonly type: 'number' | 'integer' | 'boolean' | 'string' | 'datetime' | 'object' | 'array'
  readonly unit?: string | undefined
  readonly required?: boolean | undefined

  /** [min, max] or {min, max}, both inclusive. */
  readonly range?: unknown
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly enum?: readonly unknown[] | undefined

  /** Of an object: its fields. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined

  /** Of an array: what each element is. */
  readonly items?: Readonly<Record<string, unknown>> | undefined

  /**
   * The path of its value, or several, of which the first that leads somewhere counts. Its
   * name, if not given.
   */
  readonly from?: string | readonly string[] | undefined

  /** Values that stand for none, beside those of the source. */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /** Whether texts are read by the type. As the source says, if not given. */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** Of texts that are numbers. */
  readonly decimal?: '.' | ',' | undefined
}
export type Fleet = {
  readonly fleetId: string
  readonly name: string
  readonly vaultId: string

  /**
   * A new data stream without name, vault and tags: `type`, `source`, `schema` and
   * `processing`. `{device}` is a level of `source.topic` and names the device;
   * `source.deviceField` is the name, or the path, of the member of a reading that does so.
   */
  readonly definition: Readonly<Record<string, unknown>>

  /** Of all of its streams, besides `device`. */
  readonly tags: Readonly<Record<string, string>>

  /** Streams that it can have at most. */
  readonly streamsMax: number

  /** That it has. */
  readonly streams: number

  /** Of the definition and the tags. */
  readonly version: number
  readonly createdAt: string
  readonly changedAt: string

  /** A change that not all streams have yet. */
  readonly change: {
    /** That the streams are to have. */
    readonly version: number

    /** Streams of the fleet. */
    readonly total: number

    /** Streams that have this version. */
    readonly done: number

    /**
     * Streams that cannot have it, because they have as many versions as a stream can have:
     * devices with the status `outdated`.
     */
    readonly failed: number
  } | null
}
export type FleetAlertRule = {
  readonly alertRuleId: string

  /** The rule of its alerts. */
  readonly ruleId: string
  readonly name: string

  /** Of streams in this vault. */
  readonly vaultId: string | null

  /** Of streams with all of these tags. */
  readonly tags: Readonly<Record<string, string>>
  readonly rule: AlertRule
  readonly createdAt: string
  readonly updatedAt: string
}

/** What is not sent stays; null takes vaultId or tags away. */
export type FleetAlertRuleChange = {
  readonly name?: string | undefined

  /** Of streams in this vault. */
  readonly vaultId?: string | null | undefined

  /** Of streams with all of these tags. */
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly rule?: AlertRule | undefined
}

/**
 * What is not sent stays. Of tags, and of source, schema and processing of the definition,
 * each member stays, is replaced completely, or is removed with null.
 */
export type FleetChange = {
  readonly name?: string | undefined

  /**
   * A new data stream without name, vault and tags: `type`, `source`, `schema` and
   * `processing`. `{device}` is a level of `source.topic` and names the device;
   * `source.deviceField` is the name, or the path, of the member of a reading that does so.
   */
  readonly definition?: Readonly<Record<string, unknown>> | undefined

  /** Streams that it can have at most. */
  readonly streamsMax?: number | undefined

  /** Texts to find the stream by: at most 32. */
  readonly tags?: Readonly<Record<string, string | null>> | null | undefined
}
export type FleetDevice = {
  /** The name that its messages have. */
  readonly name: string

  /** Null of a name that is denied and has none. */
  readonly streamId: string | null
  readonly createdAt: string
  readonly lastReceivedAt: string | null

  /** Whether its messages are refused. */
  readonly denied: boolean

  /** The version of the fleet that its stream has. */
  readonly version: number
}
export type Import = {
  readonly importId: string
  readonly streamId: string
  readonly format: 'csv' | 'ndjson' | 'parquet'

  /** Of the file. */
  readonly bytes: number

  /** Of the file, in hex. */
  readonly sha256: string

  /** That are durable, or refused. */
  readonly rows: number

  /** Duplicates among them. */
  readonly accepted: number
  readonly refused: number

  /**
   * Readings of the stream that it had already, from the beginning of the import on, from any
   * sender.
   */
  readonly duplicates: number

  /** The first ones; all that find room are in the quarantine. */
  readonly refusals: readonly {
    readonly row: number
    readonly error: string
    readonly message: string
    readonly remedy: string
  }[]
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly progress: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null

  /** When it is removed with all it has made. */
  readonly expiresAt: string | null

  /** Why it has failed. */
  readonly failure: {
    readonly error: string
    readonly message: string
    readonly remedy: string
  } | null
}

/** Of streams that others send messages to. */
export type InboundWebhookStatus = {
  /** On disk, since the service started. */
  readonly messages: number
  readonly lastMessage: string | null

  /** Sent again, and stored once. */
  readonly repeated: number

  /** Without a good signature. */
  readonly refused: number
  readonly lastRefused: string | null

  /** What was wrong with the last one. */
  readonly lastRefusal?: string | undefined
}
export type InboxArchival = {
  readonly ids?: readonly string[] | undefined
  readonly all_read?: true | undefined
}
export type InboxEntry = {
  readonly id: string

  /** When it happened. */
  readonly created_at: string
  readonly type: 'INFO' | 'SUCCESS' | 'WARNING' | 'ERROR' | 'ACTION_REQUIRED'
  readonly event_type: string
  readonly title: string
  readonly message: string
  readonly resource_type: string
  readonly resource_id: string

  /** The vault that it is about, or of which its resource is. */
  readonly vault_id: string | null

  /** The stream that it is about, or of which its resource is. */
  readonly stream_id: string | null

  /** Of an alert; null for anything else. */
  readonly severity: 'info' | 'warning' | 'critical' | null
  readonly read: boolean
  readonly archived: boolean

  /** After 30 days it is gone. */
  readonly expires_at: string
}
export type KafkaSource = {
  /** what is spoken */
  readonly protocol: 'kafka'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /**
   * `kafka://host:port`, or several with commas between them: whichever answers says where the
   * others are. The port is 9092 if nothing is said
   */
  readonly endpoint: string

  /**
   * the topic, or up to 100 with commas between them. They have to be there. Of several, the
   * same reading [on two topics](external-brokers.md#several-devices-on-one-filter) is two
   * readings
   */
  readonly topic: string

  /**
   * the consumer group. Without it the stream has one of its own, `streamvault-` with its id,
   * which is deleted with the stream
   */
  readonly group?: string | undefined

  /**
   * `earliest`: what the topic holds, too. `latest`: what comes after the first start. It
   * counts only where neither the group nor the stream has read anything of the topic
   */
  readonly startFrom?: 'earliest' | 'latest' | undefined

  /**
   * `true`, or the `ca` to trust and the `servername` to expect. It cannot be had without a
   * check of who answers
   */
  readonly tls?:
    | true
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /**
   * `username` and `password` with the `type` `plain` (the default), `scram-sha-256` or
   * `scram-sha-512`; or a `certificate` with its `privateKey`, in PEM; or both
   */
  readonly credentials?:
    | {
        /** the mechanism of SASL */
        readonly type?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined

        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type Key = {
  /** The same as apiKey, as paths name it. */
  readonly id: string
  readonly apiKey: string
  readonly name: string
  readonly kind: 'test' | 'live'
  readonly permission: 'read_only' | 'read_write' | 'admin' | 'custom'
  readonly scopes: readonly (
    | 'vaults:read'
    | 'vaults:write'
    | 'streams:read'
    | 'streams:write'
    | 'data:read'
    | 'data:write'
    | 'attachments:read'
    | 'attachments:write'
    | 'notifications:read'
    | 'notifications:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'keys:admin'
    | 'platform:admin'
  )[]
  readonly userId: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly rotatedAt: string | null

  /** Until then the secret before the last rotation is good, too. */
  readonly previousSecretUntil: string | null
  readonly lastUsedAt: string | null

  /** Messages over MQTT to topics that are not its own, since the service started. */
  readonly droppedPublishes: number

  /**
   * What its MQTT clients do on topics that are not its own: `ignore` takes wills,
   * subscriptions and messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'
}
export type KeyWithSecret = {
  /** The same as apiKey, as paths name it. */
  readonly id: string
  readonly apiKey: string
  readonly name: string
  readonly kind: 'test' | 'live'
  readonly permission: 'read_only' | 'read_write' | 'admin' | 'custom'
  readonly scopes: readonly (
    | 'vaults:read'
    | 'vaults:write'
    | 'streams:read'
    | 'streams:write'
    | 'data:read'
    | 'data:write'
    | 'attachments:read'
    | 'attachments:write'
    | 'notifications:read'
    | 'notifications:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'keys:admin'
    | 'platform:admin'
  )[]
  readonly userId: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly rotatedAt: string | null

  /** Until then the secret before the last rotation is good, too. */
  readonly previousSecretUntil: string | null
  readonly lastUsedAt: string | null

  /** Messages over MQTT to topics that are not its own, since the service started. */
  readonly droppedPublishes: number

  /**
   * What its MQTT clients do on topics that are not its own: `ignore` takes wills,
   * subscriptions and messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'

  /** Shown this once. */
  readonly apiSecret: string
}

/** The newest reading of a data stream. */
export type LatestReading = {
  readonly streamId: string

  /** Of the reading, or the start of its bucket. */
  readonly timestamp: string
  readonly extra?: Readonly<Record<string, unknown>> | undefined

  /** Readings in the bucket or window. */
  readonly count?: number | undefined

  /** Of a window: 1 at first, and higher each time it has become another. */
  readonly revision?: number | undefined

  /** Of a window: null while it is open or being revised. */
  readonly computedAt?: string | null | undefined
  readonly [name: string]: unknown
}
export type Ledger = 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM'
export type LedgerAccount = {
  /** `issuer` signs what is anchored, and `distributor` is where assets are paid to. */
  readonly role: 'issuer' | 'distributor'

  /** Its address. */
  readonly account: string

  /**
   * How many more it can pay for, for a `distributor` with the reserve that each asset takes:
   * null where that is not known.
   */
  readonly anchors_left: number | null
}
export type LedgerInUse = {
  readonly ledger: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM'

  /** Where what live keys make is anchored: `sandbox` where no other is set. */
  readonly network: string

  /** From when on a block counts: as the network says, or under so many others. */
  readonly finality: 'finalized' | 'safe' | number

  /** Of an anchor now, in `unit`: null where it costs nothing, or no node answers. */
  readonly fee: string | null
  readonly unit: 'drops' | 'wei' | null

  /** Ours, which sign: the issuer first. */
  readonly accounts: readonly LedgerAccount[]

  /** Whether the network answers. */
  readonly answers: boolean

  /** Why nothing can be anchored there now; null while it can. */
  readonly problem: string | null
}
export type LedgerKey = {
  /** Which is set to this network now. */
  readonly ledger: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM' | null
  readonly network: string

  /** `issuer` signs; `distributor`, of XRPL only, is where assets come from. */
  readonly role: 'issuer' | 'distributor'

  /** The address to be funded. */
  readonly account: string
  readonly algorithm: 'secp256k1' | 'Ed25519'

  /** Hexadecimal. */
  readonly publicKey: string
  readonly createdAt: string

  /** Whether the master key opens it. */
  readonly readable: boolean
}

/**
 * What begins with `lastReadingAt` is there with `include=health` only, and `source` where
 * there is one.
 */
export type ListedDataStream = {
  readonly streamId: string
  readonly name: string
  readonly vaultId: string
  readonly type:
    | 'iot_sensor'
    | 'api_pull'
    | 'event_stream'
    | 'database'
    | 'manufacturing'
    | 'building_systems'
    | 'occupancy'
    | 'service'
  readonly status: 'created' | 'active' | 'paused' | 'error'

  /** Where readings are pushed to. */
  readonly endpoint: string
  readonly createdAt: string

  /** The fleet that has its definition. */
  readonly fleetId?: string | undefined

  /** The name of its device in the fleet. */
  readonly device?: string | undefined

  /** Texts to find the stream by: at most 32. */
  readonly tags: Readonly<Record<string, string>>

  /** When it has received something last. */
  readonly lastReadingAt?: string | null | undefined
  readonly receivedPerSecond?: number | undefined

  /** Readings in its quarantine now. */
  readonly quarantined?: number | undefined
  readonly firing?:
    | {
        readonly alerts: number

        /** Of the worst of them. */
        readonly severity: 'info' | 'warning' | 'critical' | null
      }
    | undefined

  /** Of streams whose readings are fetched from somewhere. */
  readonly source?:
    | {
        readonly state: 'connecting' | 'running' | 'waiting' | 'failing' | 'paused'

        /** Since when it has been in this state. */
        readonly since: string

        /** Its beginning. */
        readonly lastError?: string | undefined
      }
    | undefined

  /** The first 32 fields of its readings as they are stored. */
  readonly fields?:
    | readonly {
        readonly name: string
        readonly type: string
        readonly unit?: string | undefined
      }[]
    | undefined

  /**
   * Readings received in each of the last 24 times 5 minutes, the oldest first; null: not
   * known.
   */
  readonly spark?: readonly (number | null)[] | undefined
}
export type MailAttempt = {
  readonly id: string
  readonly created_at: string
  readonly delivery_id: string
  readonly event_id: string

  /** Of the question for consent: `email.verification`. */
  readonly event_type: string
  readonly attempt: number

  /** What the mail server has answered (RFC 5321); none without an answer. */
  readonly status_code: number | null
  readonly duration_ms: number

  /** `skipped: no mail server` where none is configured. */
  readonly message: string

  /** Taken by the mail server. */
  readonly delivered: boolean
  readonly attempted_at: string
  readonly next_attempt_at: string | null
}

/** From a leaf to the root of its tree (RFC 6962, section 2.1.1). */
export type MerklePath = {
  readonly index: number
  readonly size: number
  readonly hashes: readonly string[]
}
export type ModbusSource = {
  /** what is spoken */
  readonly protocol: 'modbus'

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** `modbus://host:port` (port 502 where none is given), or `modbus+tls://host:port` (802) */
  readonly endpoint: string

  /**
   * the unit behind the address. Behind a gateway each device has its own; some that are alone
   * want 255 or 0
   */
  readonly unitId?: number | undefined

  /** up to 256 fields, [below](#registers) */
  readonly registers: readonly {
    /** of the schema */
    readonly field: string

    /** which of the four tables of a device it is in */
    readonly kind?: 'holding' | 'input' | 'coil' | 'discrete' | undefined

    /** as it is sent, **from 0**: see below */
    readonly address: number

    /** of the value. A coil or a discrete input is a `bool` */
    readonly type?:
      | 'int16'
      | 'uint16'
      | 'int32'
      | 'uint32'
      | 'int64'
      | 'uint64'
      | 'float32'
      | 'float64'
      | 'bool'
      | 'string'
      | undefined

    /**
     * of a `bool` in a register: which bit, 0 being the least. Without it: whether the register
     * is not 0
     */
    readonly bit?: number | undefined

    /** of a `string`: its characters, two in a register */
    readonly length?: number | undefined

    /** of the two bytes of a register; that of the source without it */
    readonly byteOrder?: 'big' | 'little' | undefined

    /** of the registers of a number; that of the source without it */
    readonly wordOrder?: 'big' | 'little' | undefined

    /** the value is what is in the registers times `scale` */
    readonly scale?: number | undefined

    /** added to it */
    readonly offset?: number | undefined

    /**
     * what is in the registers, before `scale` and `offset`, where there is no value: numbers,
     * or texts such as `"0x8000"`
     */
    readonly missing?: readonly (number | string)[] | undefined

    /** that of the source without it */
    readonly unitId?: number | undefined
  }[]

  /** for all registers that say nothing themselves */
  readonly byteOrder?: 'big' | 'little' | undefined

  /** for all registers that say nothing themselves */
  readonly wordOrder?: 'big' | 'little' | undefined

  /** how many registers that no field reads may be read to save a request */
  readonly maxGap?: number | undefined

  /** for each answer; a minute at most */
  readonly timeout?: string | undefined

  /**
   * of `modbus+tls`: `{"ca": "PEM", "servername": "..."}`, whom to trust instead of the usual
   * authorities, and whom to expect
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /**
   * of `modbus+tls`: `{"certificate": "PEM", "privateKey": "PEM"}`, which most of those
   * devices ask for
   */
  readonly credentials?:
    | {
        /** What we are known by, in PEM. */
        readonly certificate: string

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey: string
      }
    | undefined

  /**
   * [when it is asked](schedules.md): a cron expression, with seconds if it has six fields.
   * Once a second is the most: `* * * * * *`
   */
  readonly schedule: string

  /** of the schedule, and of times that name no zone */
  readonly timezone?: string | undefined

  /**
   * keeps many streams from asking in the same second: each waits a part of it, always the
   * same
   */
  readonly jitter?: string | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type MqttSession = {
  /** As the client has named itself. */
  readonly clientId: string

  /** Of a device: each device has clients of its own. */
  readonly deviceId: string | null

  /** Whether it outlives its connection (no clean session). */
  readonly kept: boolean
  readonly connected: boolean

  /** When the client connected, or was last connected. */
  readonly since: string
  readonly createdAt: string

  /** When it ends unless the client comes back before; null while it is connected. */
  readonly expiresAt: string | null

  /** What it is connected with. */
  readonly apiKeyId: string | null
  readonly address: string | null

  /** How many filters. */
  readonly subscriptions: number

  /** Not acknowledged yet, of QoS 1 and 2. */
  readonly queuedMessages: number

  /** Of their topics and payloads. */
  readonly queuedBytes: number
}
export type MqttSessionWithFilters = {
  /** As the client has named itself. */
  readonly clientId: string

  /** Of a device: each device has clients of its own. */
  readonly deviceId: string | null

  /** Whether it outlives its connection (no clean session). */
  readonly kept: boolean
  readonly connected: boolean

  /** When the client connected, or was last connected. */
  readonly since: string
  readonly createdAt: string

  /** When it ends unless the client comes back before; null while it is connected. */
  readonly expiresAt: string | null

  /** What it is connected with. */
  readonly apiKeyId: string | null
  readonly address: string | null

  /** How many filters. */
  readonly subscriptions: number

  /** Not acknowledged yet, of QoS 1 and 2. */
  readonly queuedMessages: number

  /** Of their topics and payloads. */
  readonly queuedBytes: number

  /** As many as fit into 256 KiB of text. */
  readonly filters: readonly { readonly filter: string; readonly qos: 0 | 1 | 2 }[]
}
export type NatsSource = {
  /** what is spoken */
  readonly protocol: 'nats'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /** `nats://host:port`, or `tls://` with TLS. The port is 4222 if nothing is said */
  readonly endpoint: string

  /**
   * the subjects that are read: `*` stands for one token, `>` for all from the last one on.
   * With either, the same reading [on two
   * subjects](external-brokers.md#several-devices-on-one-filter) is two readings
   */
  readonly topic: string

  /** the name of the stream, where several keep the topic */
  readonly stream?: string | undefined

  /**
   * `earliest`: what the stream holds, too. `latest`: what comes from now on. It is of no use
   * once something was read
   */
  readonly startFrom?: 'earliest' | 'latest' | undefined

  /** the name of a durable consumer that others may take from, too, see below */
  readonly group?: string | undefined

  /** the domain of JetStream, behind a leaf node say */
  readonly domain?: string | undefined

  /**
   * one of `username` with `password`, `token`, `nkey` (a seed: `SU…`) or `credentialsFile`
   * (the text of a `.creds` file); a `certificate` with its `privateKey`, in PEM; or both
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** A token. */
        readonly token?: string | undefined

        /** The seed of an NKey of a user. */
        readonly nkey?: string | undefined

        /** The text of a file with a JWT of a user and its NKey. */
        readonly credentialsFile?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /**
   * the `ca` to trust, the `servername` to expect, and `handshakeFirst`: `true` where the
   * server is set up so
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined

        /** Whether TLS begins before the server has said anything. */
        readonly handshakeFirst?: boolean | undefined
      }
    | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type NewAsset = {
  /**
   * In full units: digits without sign, exponent and leading zeros. With its decimal places it
   * is 2^63-1 at most.
   */
  readonly supply: string

  /** Decimal places of a full unit. */
  readonly precision: number

  /** That of the asset stream without it. */
  readonly ledger?: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM' | undefined
}
export type NewAssetStream = {
  /** Printable ASCII without space and `/`; not `XRP`, `.` or `..`. */
  readonly asset_code: string
  readonly description: string | null
}
export type NewAttachment = {
  readonly name: string
  readonly description?: string | null | undefined
  readonly stream_id: string
  readonly ledger: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM'
  readonly filename?: string | null | undefined

  /** Whether an archive is uploaded, whose entries become the files. */
  readonly upload_as_zip?: boolean | undefined
}
export type NewBackup = {
  /**
   * An absolute path of an empty or new folder of the machine of the service, or
   * `s3://bucket/prefix?endpoint=https://host`.
   */
  readonly to: string
  readonly withMasterKey?: boolean | undefined
}
export type NewBearerWebhook = {
  /** http or https, port 80 or 443, and no private address. */
  readonly url: string
  readonly events: readonly (
    | 'vault.created'
    | 'vault.completed'
    | 'vault.failed'
    | 'vault.error'
    | 'vault.deleted'
    | 'stream.created'
    | 'stream.completed'
    | 'stream.failed'
    | 'stream.error'
    | 'stream.deleted'
    | 'data_attachment.created'
    | 'data_attachment.completed'
    | 'data_attachment.failed'
    | 'data_attachment.deleted'
    | 'signature.created'
    | 'signature.completed'
    | 'signature.failed'
    | 'signature.error'
    | 'asset.created'
    | 'asset.deployed'
    | 'asset.error'
    | 'vault.permission.granted'
    | 'vault.permission.revoked'
    | 'vault.permission.updated'
    | 'stream.permission.granted'
    | 'stream.permission.revoked'
    | 'stream.permission.updated'
    | 'vault.updated'
    | 'stream.updated'
    | 'data_attachment.updated'
    | 'data_attachment.received'
    | 'signature.updated'
    | 'asset.updated'
    | 'vault.data_updated'
    | 'vault.permission_changed'
    | 'vault.verification_complete'
    | 'vault.accessed'
    | 'stream.data_received'
    | 'stream.alert_triggered'
    | 'stream.alert_cleared'
  )[]

  /** What requests are signed with; null: they are not. */
  readonly secret?: string | null | undefined

  /** false: PAUSED. */
  readonly active?: boolean | undefined

  /**
   * An event has to meet each of them; `userIds` are those whose resource it is about, and
   * `severities` those of alerts.
   */
  readonly filters?:
    | {
        readonly vaultIds?: readonly string[] | undefined
        readonly templateIds?: readonly string[] | undefined
        readonly userIds?: readonly string[] | undefined
        readonly severities?: readonly ('info' | 'warning' | 'critical')[] | undefined
      }
    | undefined

  /** Seconds that one attempt may take. */
  readonly timeout?: number | undefined

  /** Attempts after the first one. */
  readonly retryCount?: number | undefined

  /** Seconds before the second attempt; twice as many before each further one. */
  readonly retryDelay?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}
export type NewCredential = {
  readonly type?: 'EMAIL' | undefined
  readonly key: string
  readonly identity_provider?: string | undefined
  readonly ledger?: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM' | undefined
}
export type NewDataStream = {
  readonly name: string
  readonly vaultId: string
  readonly type:
    | 'iot_sensor'
    | 'api_pull'
    | 'event_stream'
    | 'database'
    | 'manufacturing'
    | 'building_systems'
    | 'occupancy'
    | 'service'
  readonly source?: Source | undefined

  /** The fields of a reading, by name: at most 256, at most 8 levels deep. */
  readonly schema?: Readonly<Record<string, Field>> | undefined
  readonly processing?:
    | {
        readonly validation?: 'lenient' | 'strict' | undefined
        readonly frequency?: string | undefined
        readonly aggregation?: 'average' | 'latest' | 'min' | 'max' | 'sum' | 'count' | undefined

        /**
         * What happens to a reading before it is stored, step by step. Each step is one of rename
         * {from, to}, convert {field, from, to}, scale {field, factor, offset}, derive {field, type,
         * expression}, filter {expression} and drop {field}. Expressions are in CEL.
         */
        readonly transform?: readonly Readonly<Record<string, unknown>>[] | undefined

        /**
         * Drops readings that say the same as the one before; one is kept in each window of
         * frequency.
         */
        readonly deduplicate?: boolean | undefined

        /** How long data is kept, by its own time. What is left out is as the vault says. */
        readonly retention?:
          | {
              /** Readings. */
              readonly raw?: string | undefined

              /** Results of windows. */
              readonly aggregated?: string | undefined
            }
          | undefined

        /** How long the stretches of time are whose readings are sealed: 15m to 24h. */
        readonly seal?: string | undefined

        /**
         * Alert rules: a list, or for each field {min, max} or a list; none where it is false or
         * null. At most 50 with those of the other key.
         */
        readonly alertThresholds?:
          | readonly AlertRule[]
          | Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>
          | false
          | null
          | undefined

        /**
         * Alert rules: a list, or for each field {min, max} or a list; none where it is false or
         * null. At most 50 with those of the other key.
         */
        readonly alerting?:
          | readonly AlertRule[]
          | Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>
          | false
          | null
          | undefined
      }
    | undefined

  /** Texts to find the stream by: at most 32. */
  readonly tags?: Readonly<Record<string, string>> | undefined
}
export type NewDevice = {
  readonly name: string
  readonly streamIds: readonly string[]

  /** The only MQTT client id that it may connect with. */
  readonly clientId?: string | null | undefined

  /** Common name of the client certificates that stand for it; unique in the service. */
  readonly certificateName?: string | null | undefined
  readonly rateLimit?:
    | { readonly readingsPerSecond: number; readonly burst: number }
    | null
    | undefined

  /** RFC 3339, with a zone. */
  readonly expiresAt?: string | null | undefined

  /**
   * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
   * subscriptions and its messages, and drops them.
   */
  readonly foreignTopics?: 'refuse' | 'ignore' | undefined
}
export type NewEmailRecipient = {
  /** Without a name; the same in any case. */
  readonly email: string

  /**
   * Of which alerts it is notified; an empty list leaves nothing out. No other events have a
   * severity.
   */
  readonly filters?:
    | { readonly severities?: readonly ('info' | 'warning' | 'critical')[] | undefined }
    | undefined
}
export type NewEntity = {
  readonly name: string
  readonly description?: string | undefined
  readonly type?: 'LEGAL_ENTITY' | undefined
}
export type NewFavorite = {
  readonly type: 'NFT' | 'TOKEN'

  /** What it refers to: the service does not look into it. */
  readonly ref: string
}
export type NewFleet = {
  readonly name: string
  readonly vaultId: string

  /**
   * A new data stream without name, vault and tags: `type`, `source`, `schema` and
   * `processing`. `{device}` is a level of `source.topic` and names the device;
   * `source.deviceField` is the name, or the path, of the member of a reading that does so.
   */
  readonly definition: Readonly<Record<string, unknown>>

  /** Streams that it can have at most. */
  readonly streamsMax?: number | undefined

  /** Texts to find the stream by: at most 32. */
  readonly tags?: Readonly<Record<string, string>> | undefined
}

/** With vaultId, tags, or both. The rule has no id of its own. */
export type NewFleetAlertRule = {
  readonly name: string

  /** Of streams in this vault. */
  readonly vaultId?: string | null | undefined

  /** Of streams with all of these tags. */
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly rule: AlertRule
}
export type NewKey = {
  readonly name: string
  readonly kind: 'test' | 'live'
  readonly permission: 'read_only' | 'read_write' | 'admin' | 'custom'

  /** With the permission `custom`, and only with it. */
  readonly scopes?:
    | readonly (
        | 'vaults:read'
        | 'vaults:write'
        | 'streams:read'
        | 'streams:write'
        | 'data:read'
        | 'data:write'
        | 'attachments:read'
        | 'attachments:write'
        | 'notifications:read'
        | 'notifications:write'
        | 'webhooks:read'
        | 'webhooks:write'
        | 'keys:admin'
        | 'platform:admin'
      )[]
    | undefined

  /** For another user: needs `platform:admin`. */
  readonly userId?: string | undefined

  /** RFC 3339, with a zone. */
  readonly expiresAt?: string | null | undefined

  /**
   * What its MQTT clients do on topics that are not its own: `ignore` takes wills,
   * subscriptions and messages, and drops them.
   */
  readonly foreignTopics?: 'refuse' | 'ignore' | undefined
}
export type NewPermission = {
  /** Of the user that it is for; case makes no difference. */
  readonly username: string

  /** READ lets see it, WRITE also change it. */
  readonly role: 'READ' | 'WRITE'

  /** RFC 3339 with a zone, and in the future; null: no end. */
  readonly expires_at?: string | null | undefined
}

/** Empty to have the service sign; or all three, of the text in docs/signatures.md. */
export type NewSignature = {
  readonly algorithm?: 'Ed25519' | 'ES256' | undefined

  /** The public key (JWK, RFC 7517). A private one is refused. */
  readonly public_key?:
    | {
        /** `OKP` for Ed25519, `EC` for ES256. */
        readonly kty?: unknown

        /** `Ed25519` or `P-256`. */
        readonly crv?: unknown

        /** base64url. */
        readonly x?: unknown

        /** base64url, for ES256. */
        readonly y?: unknown
      }
    | undefined

  /**
   * base64url of 64 bytes: R and S of Ed25519 (RFC 8032), or r and s of ES256 (RFC 7518,
   * section 3.4).
   */
  readonly signature?: string | undefined
}
export type NewStreamOfTopic = {
  readonly topic: string
  readonly vaultId: string

  /** The topic when left out. */
  readonly name?: string | undefined

  /** Answers the proposed definition (200), and makes nothing. */
  readonly preview?: boolean | undefined
}
export type NewTemplate = {
  readonly name: string
  readonly description?: string | null | undefined
  readonly public?: boolean | undefined
  readonly hint: string

  /** Asset codes that a vault needs. */
  readonly required_streams: readonly string[]
  readonly author?: string | null | undefined
}
export type NewUser = {
  /** Unique; case makes no difference. */
  readonly username: string
  readonly first_name: string
  readonly last_name: string
}
export type NewVault = {
  readonly template_id: string
  readonly name: string
  readonly description?: string | null | undefined
  readonly ledger?: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM' | null | undefined
  readonly json_payload?: string | null | undefined
  readonly public?: boolean | null | undefined
}
export type NewWebhook = {
  /** http or https, port 80 or 443, and no private address. */
  readonly url: string
  readonly event_types: readonly (
    | 'vault.created'
    | 'vault.completed'
    | 'vault.failed'
    | 'vault.error'
    | 'vault.deleted'
    | 'stream.created'
    | 'stream.completed'
    | 'stream.failed'
    | 'stream.error'
    | 'stream.deleted'
    | 'data_attachment.created'
    | 'data_attachment.completed'
    | 'data_attachment.failed'
    | 'data_attachment.deleted'
    | 'signature.created'
    | 'signature.completed'
    | 'signature.failed'
    | 'signature.error'
    | 'asset.created'
    | 'asset.deployed'
    | 'asset.error'
    | 'vault.permission.granted'
    | 'vault.permission.revoked'
    | 'vault.permission.updated'
    | 'stream.permission.granted'
    | 'stream.permission.revoked'
    | 'stream.permission.updated'
    | 'vault.updated'
    | 'stream.updated'
    | 'data_attachment.updated'
    | 'data_attachment.received'
    | 'signature.updated'
    | 'asset.updated'
  )[]
  readonly description?: string | null | undefined

  /** What requests are signed with; null: they are not. */
  readonly secret?: string | null | undefined
  readonly custom_headers?: Readonly<Record<string, string>> | undefined
  readonly resource_filters?:
    | {
        readonly vault_ids?: readonly string[] | undefined
        readonly stream_ids?: readonly string[] | undefined
      }
    | undefined
  readonly status?: 'ACTIVE' | 'PAUSED' | 'DISABLED' | undefined
}
export type NotificationGate = {
  readonly enabled: boolean
  readonly channels: readonly ('email' | 'in_app' | 'push')[]
}
export type NotificationPreferences = {
  readonly global_preferences: {
    readonly email_enabled: boolean
    readonly in_app_enabled: boolean

    /** Has no effect here. */
    readonly push_enabled: boolean

    /** Stored; all notifications are sent at once. */
    readonly frequency: 'REAL_TIME' | 'DAILY_DIGEST'
  }
  readonly category_preferences: {
    readonly vault_notifications?: NotificationGate | undefined
    readonly stream_notifications?: NotificationGate | undefined
    readonly data_attachment_notifications?: NotificationGate | undefined
    readonly signature_notifications?: NotificationGate | undefined
    readonly asset_notifications?: NotificationGate | undefined
    readonly permission_notifications?: NotificationGate | undefined
    readonly security_notifications?: NotificationGate | undefined
  }
  readonly event_preferences: {
    readonly 'vault.created'?: NotificationGate | undefined
    readonly 'vault.completed'?: NotificationGate | undefined
    readonly 'vault.failed'?: NotificationGate | undefined
    readonly 'vault.error'?: NotificationGate | undefined
    readonly 'vault.deleted'?: NotificationGate | undefined
    readonly 'stream.created'?: NotificationGate | undefined
    readonly 'stream.completed'?: NotificationGate | undefined
    readonly 'stream.failed'?: NotificationGate | undefined
    readonly 'stream.error'?: NotificationGate | undefined
    readonly 'stream.deleted'?: NotificationGate | undefined
    readonly 'data_attachment.created'?: NotificationGate | undefined
    readonly 'data_attachment.completed'?: NotificationGate | undefined
    readonly 'data_attachment.failed'?: NotificationGate | undefined
    readonly 'data_attachment.deleted'?: NotificationGate | undefined
    readonly 'signature.created'?: NotificationGate | undefined
    readonly 'signature.completed'?: NotificationGate | undefined
    readonly 'signature.failed'?: NotificationGate | undefined
    readonly 'signature.error'?: NotificationGate | undefined
    readonly 'asset.created'?: NotificationGate | undefined
    readonly 'asset.deployed'?: NotificationGate | undefined
    readonly 'asset.error'?: NotificationGate | undefined
    readonly 'vault.permission.granted'?: NotificationGate | undefined
    readonly 'vault.permission.revoked'?: NotificationGate | undefined
    readonly 'vault.permission.updated'?: NotificationGate | undefined
    readonly 'stream.permission.granted'?: NotificationGate | undefined
    readonly 'stream.permission.revoked'?: NotificationGate | undefined
    readonly 'stream.permission.updated'?: NotificationGate | undefined
    readonly 'vault.updated'?: NotificationGate | undefined
    readonly 'stream.updated'?: NotificationGate | undefined
    readonly 'data_attachment.updated'?: NotificationGate | undefined
    readonly 'data_attachment.received'?: NotificationGate | undefined
    readonly 'signature.updated'?: NotificationGate | undefined
    readonly 'asset.updated'?: NotificationGate | undefined
    readonly 'vault.data_updated'?: NotificationGate | undefined
    readonly 'vault.permission_changed'?: NotificationGate | undefined
    readonly 'vault.verification_complete'?: NotificationGate | undefined
    readonly 'vault.accessed'?: NotificationGate | undefined
    readonly 'stream.data_received'?: NotificationGate | undefined
    readonly 'stream.alert_triggered'?: NotificationGate | undefined
    readonly 'stream.alert_cleared'?: NotificationGate | undefined
    readonly 'security.key_created'?: NotificationGate | undefined
    readonly 'security.key_revoked'?: NotificationGate | undefined
    readonly 'security.webhook_disabled'?: NotificationGate | undefined
    readonly 'security.email_disabled'?: NotificationGate | undefined
    readonly 'security.ledger_funds_low'?: NotificationGate | undefined
  }
}
export type NotificationPreferencesChange = {
  readonly global_preferences?:
    | {
        readonly email_enabled?: boolean | undefined
        readonly in_app_enabled?: boolean | undefined

        /** Has no effect here. */
        readonly push_enabled?: boolean | undefined

        /** Stored; all notifications are sent at once. */
        readonly frequency?: 'REAL_TIME' | 'DAILY_DIGEST' | undefined
      }
    | undefined
  readonly category_preferences?:
    | {
        /** What is left out keeps its value; null goes back to the default. */
        readonly vault_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly stream_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly data_attachment_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly signature_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly asset_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly permission_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly security_notifications?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined
      }
    | undefined
  readonly event_preferences?:
    | {
        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.created'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.completed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.failed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.error'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.deleted'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.created'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.completed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.failed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.error'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.deleted'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'data_attachment.created'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'data_attachment.completed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'data_attachment.failed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'data_attachment.deleted'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'signature.created'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'signature.completed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'signature.failed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'signature.error'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'asset.created'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'asset.deployed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'asset.error'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.permission.granted'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.permission.revoked'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.permission.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.permission.granted'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.permission.revoked'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.permission.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'data_attachment.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'data_attachment.received'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'signature.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'asset.updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.data_updated'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.permission_changed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.verification_complete'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'vault.accessed'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.data_received'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.alert_triggered'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'stream.alert_cleared'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'security.key_created'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'security.key_revoked'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'security.webhook_disabled'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'security.email_disabled'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined

        /** What is left out keeps its value; null goes back to the default. */
        readonly 'security.ledger_funds_low'?:
          | {
              readonly enabled?: boolean | undefined
              readonly channels?: readonly ('email' | 'in_app' | 'push')[] | undefined
            }
          | null
          | undefined
      }
    | undefined
}
export type OpcUaSource = {
  /** what is spoken */
  readonly protocol: 'opcua'

  /**
   * an object of up to 256 fields with their NodeIds; or a list of up to 10,000: NodeIds, or
   * objects with `nodeId` and, if wanted, `field` (for all or none), `samplingInterval`,
   * `queueSize`, `deadband` (a change by no more, in the unit of the value, does not count)
   */
  readonly items:
    | Readonly<Record<string, string>>
    | readonly (
        | string
        | {
            /** of the value */
            readonly nodeId: string

            /** of the schema: for all items, or for none */
            readonly field?: string | undefined

            /** that of the source without it */
            readonly samplingInterval?: number | undefined

            /** that of the source without it */
            readonly queueSize?: number | undefined

            /** a change by no more, in the unit of the value, does not count */
            readonly deadband?: number | undefined
          }
      )[]

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** `opc.tcp://host:port/path`; port 4840 where none is given */
  readonly endpoint: string

  /** in which the server looks at a value; 0: as fast as it can */
  readonly samplingInterval?: number | undefined

  /** in which it sends what it has found */
  readonly publishingInterval?: number | undefined

  /** of one item that it keeps until they are sent */
  readonly queueSize?: number | undefined

  /** which value goes when there are more */
  readonly discardOldest?: boolean | undefined

  /**
   * for which the server is asked to keep a session from which it receives nothing:
   * [below](#what-is-guaranteed)
   */
  readonly sessionTimeout?: number | undefined

  /** [below](#security) */
  readonly securityMode?: 'none' | 'sign' | 'signAndEncrypt' | undefined

  /** `Basic256Sha256` where nothing is said */
  readonly securityPolicy?:
    | 'Basic256Sha256'
    | 'Aes128_Sha256_RsaOaep'
    | 'Aes256_Sha256_RsaPss'
    | undefined

  /**
   * `username` and `password`; with a security mode `certificate` and `privateKey` as well:
   * [below](#security)
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /** whom to trust: PEM of the server's certificate or of who issued it, or its SHA-256 */
  readonly serverCertificate?: string | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type Overview = {
  /** From when on readings per minute are known. */
  readonly since: string
  readonly perMinute: {
    /** Of the first minute; the last one is under way. */
    readonly start: string

    /** The 60 minutes of an hour, the oldest first; null: before the service has begun. */
    readonly received: readonly (number | null)[]

    /** The 60 minutes of an hour, the oldest first; null: before the service has begun. */
    readonly stored: readonly (number | null)[]

    /** The 60 minutes of an hour, the oldest first; null: before the service has begun. */
    readonly quarantined: readonly (number | null)[]
  }

  /** Averaged over about a minute. */
  readonly perSecond: {
    readonly received: number
    readonly stored: number
    readonly quarantined: number
  }
  readonly streams: {
    readonly total: number
    readonly byState: {
      readonly created: number
      readonly active: number
      readonly paused: number
      readonly error: number
    }

    /** Not paused, have sent something, and nothing for `silentAfter`. */
    readonly silent: number
    readonly silentAfter: string
  }
  readonly alerts: {
    readonly firing: { readonly info: number; readonly warning: number; readonly critical: number }
    readonly acknowledged: number

    /** Those that need attention most. */
    readonly worst: readonly {
      readonly alertId: string
      readonly streamId: string
      readonly streamName: string
      readonly ruleId: string
      readonly field: string | null
      readonly severity: 'info' | 'warning' | 'critical'

      /** What was judged last when the alert moved. */
      readonly value: number | string | boolean | null

      /** What it was compared with; of a silence its seconds. */
      readonly threshold: number | string | boolean | null

      /** When it began, by the clock of the service. */
      readonly createdAt: string

      /** By the time of the readings. */
      readonly triggeredAt: string | null
    }[]
  }
  readonly sources: {
    readonly running: number
    readonly connecting: number
    readonly waiting: number
    readonly failing: number
    readonly paused: number

    /** When the next round of any is due. */
    readonly nextRound: string | null

    /** Those that need attention most. */
    readonly worst: readonly {
      readonly streamId: string
      readonly streamName: string
      readonly since: string
      readonly lastError: string | null
      readonly retries: number

      /** It does not pass by itself, or goes on for long: the stream is in `error`. */
      readonly lasting: boolean
    }[]
  }

  /** null where the key lacks `webhooks:read`. */
  readonly webhooks: {
    readonly disabled: number

    /** Active, and the last delivery has failed. */
    readonly failing: number

    /** Deliveries that are not over, counted up to 10000. */
    readonly waiting: number

    /** Those that need attention most. */
    readonly worst: readonly {
      readonly webhookId: string
      readonly url: string
      readonly description: string | null
      readonly status: 'ACTIVE' | 'PAUSED' | 'DISABLED'
      readonly consecutiveFailures: number
      readonly lastDelivery: string | null
    }[]
  } | null

  /** null where the key lacks `notifications:read`. */
  readonly mails: {
    /** Given up within the last 24 hours. */
    readonly failed: number

    /** Deliveries that are not over, counted up to 10000. */
    readonly waiting: number
  } | null
  readonly quarantine: {
    readonly total: number
    readonly byReason: readonly { readonly reason: string; readonly entries: number }[]

    /** Those that need attention most. */
    readonly worst: readonly {
      readonly streamId: string
      readonly streamName: string
      readonly reason: string
      readonly entries: number
    }[]
  }
}
export type PermissionChange = {
  /** READ lets see it, WRITE also change it. */
  readonly role?: 'READ' | 'WRITE' | undefined

  /** RFC 3339 with a zone, and in the future; null: no end. */
  readonly expires_at?: string | null | undefined
}
export type PlannedDelivery = {
  readonly delivery_id: string
  readonly event_id: string
  readonly event_type: string
}
export type PolledDatabaseSource = {
  /** what is spoken */
  readonly protocol: 'postgres' | 'mysql' | 'mariadb' | 'sqlite' | 'mssql'

  /** `log` [follows the log of PostgreSQL](postgres-log.md) */
  readonly follow?: 'poll' | undefined

  /**
   * `host:port/database` (ports 5432, 3306 and 1433 where none is given), or the absolute path
   * of a file
   */
  readonly endpoint: string

  /**
   * not for SQLite, like `tls`. Give a user of the database who may do nothing but read what
   * the query reads
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username: string

        /** The password of the user. */
        readonly password: string
      }
    | undefined

  /**
   * `true`, or `{"ca": "PEM", "servername": "..."}`: whom to trust instead of the usual
   * authorities, and whom to expect. The certificate is always checked. MySQL and MariaDB need
   * `servername` where the endpoint is an address; without it there is no TLS
   */
  readonly tls?:
    | boolean
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /**
   * one SELECT (or WITH, TABLE, VALUES), without a LIMIT of its own; `${name}` is the text of
   * one of its [secrets](api-pull.md#secrets-in-other-places), quoted, and a change of the
   * query needs them again
   */
  readonly query: string

  /** only rows behind those that were read are asked for, in the order of this column */
  readonly incrementalColumn?: string | undefined

  /** distinguishes rows with the same value: the primary key */
  readonly keyColumn?: string | undefined

  /**
   * how late a row may be committed ([below](#rows-that-are-committed-late)): `30s`, or 1000
   * rows, where nothing is said
   */
  readonly lookBehind?: number | string | undefined

  /**
   * rows without a value in `incrementalColumn` are left out; `refuse`: the source fails, and
   * says so. Like `lookBehind` only with an `incrementalColumn`
   */
  readonly nulls?: 'skip' | 'refuse' | undefined

  /** of one page, all of which is in memory: less for long rows */
  readonly pageSize?: number | undefined

  /** of times in the database that name no zone, and of the schedule */
  readonly timezone?: string | undefined

  /** after which the server gives up a statement; an hour at most */
  readonly statementTimeout?: string | undefined

  /**
   * [when it is asked](schedules.md): a cron expression, with seconds if it has six fields.
   * Once a second is the most: `* * * * * *`
   */
  readonly schedule: string

  /**
   * keeps many streams from asking in the same second: each waits a part of it, always the
   * same
   */
  readonly jitter?: string | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type PostgresLogSource = {
  /** what is spoken */
  readonly protocol: 'postgres'

  /**
   * `log`. With `poll`, or without it, the table is asked by a `query`: then nothing on this
   * page holds
   */
  readonly follow: 'log'

  /** `host:port/database`; the port is 5432 where none is given */
  readonly endpoint: string

  /** `username` and `password` of a user who may replicate */
  readonly credentials: {
    /** A user name. */
    readonly username: string

    /** The password of the user. */
    readonly password: string
  }

  /** `true`, or an object with the `ca` to trust and the `servername` to expect */
  readonly tls?:
    | boolean
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /** `schema.table`, or the name of a table in `public`. Upper and lower case count */
  readonly table: string

  /** one that you have made. Without it the service makes its own */
  readonly publication?: string | undefined

  /**
   * the name of the replication slot, of `a-z`, `0-9` and `_`. Without it the name comes from
   * the stream
   */
  readonly slot?: string | undefined

  /** `insert_update`: a row is a reading again each time it is updated */
  readonly changes?: 'insert' | 'insert_update' | undefined

  /** of columns of type `timestamp`, which name none */
  readonly timezone?: string | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type ProgressEntry = {
  readonly step: number
  readonly status: string
  readonly completed_at: string
}
export type Proof = {
  readonly format: 'streamvault-proof-1'

  /** It is final on the ledger; without that, this is what is known so far. */
  readonly final: boolean
  readonly status: string
  readonly cid: string

  /** How CIDs are made of files (IPIP-499). */
  readonly profile: string
  readonly path: MerklePath | null
  readonly parts: readonly {
    /** Empty for the thing itself, else which file of it. */
    readonly name: string
    readonly cid: string
    readonly path: MerklePath | null
  }[]

  /** SHA-256, hexadecimal. */
  readonly root: string | null

  /** The ledger that it was made for; null if it was made from a ledger alone. */
  readonly ledger: string | null

  /** The one that it is on. */
  readonly network: string
  readonly tx_hash: string | null

  /** The text whose hash is `tx_hash`. */
  readonly transaction: string | null

  /** Of a vault: its token. */
  readonly token_id?: string | undefined
  readonly block: {
    readonly height: number
    readonly time: string

    /** SHA-256 of the header, hexadecimal. */
    readonly hash: string

    /** The text that is signed. */
    readonly header: string
    readonly path: MerklePath
  } | null
  readonly signatures: readonly {
    /** RFC 7638 thumbprint of the key. */
    readonly key_id: string
    readonly algorithm: 'Ed25519'
    readonly public_key: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }

    /** Of the header: base64. */
    readonly signature: string
  }[]
}
export type ProvisioningKey = {
  readonly id: string
  readonly apiKey: string
  readonly vaultId: string
  readonly name: string

  /** Of the stream that each new device gets. Null where the fleet has it. */
  readonly definition: Readonly<Record<string, unknown>> | null

  /** The fleet that each new device is of. */
  readonly fleetId: string | null
  readonly devicesMax: number
  readonly devicesRegistered: number
  readonly registrationsPerMinute: number

  /** Of each device. */
  readonly rateLimit: { readonly readingsPerSecond: number; readonly burst: number } | null

  /**
   * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
   * subscriptions and its messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}
export type ProvisioningKeyWithSecret = {
  readonly id: string
  readonly apiKey: string
  readonly vaultId: string
  readonly name: string

  /** Of the stream that each new device gets. Null where the fleet has it. */
  readonly definition: Readonly<Record<string, unknown>> | null

  /** The fleet that each new device is of. */
  readonly fleetId: string | null
  readonly devicesMax: number
  readonly devicesRegistered: number
  readonly registrationsPerMinute: number

  /** Of each device. */
  readonly rateLimit: { readonly readingsPerSecond: number; readonly burst: number } | null

  /**
   * What it does over MQTT on topics that are not its own: `ignore` takes its will, its
   * subscriptions and its messages, and drops them.
   */
  readonly foreignTopics: 'refuse' | 'ignore'
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null

  /** Shown this once. */
  readonly apiSecret: string
}
export type PublicKey = {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly kid: string
  readonly use: 'sig'
  readonly alg: 'ES256'
}
export type QuarantineEntry = {
  /** Offset of the reading in the journal. */
  readonly id: number
  readonly reason: string
  readonly message: string

  /** What to do about it, for people. */
  readonly remedy: string
  readonly details: readonly ErrorDetail[]

  /** The bytes as they came. */
  readonly payload: string

  /** Of the payload. */
  readonly encoding: 'utf8' | 'base64'
  readonly timestamp: string | null
  readonly receivedAt: string
  readonly source: string

  /** Of the message: a topic of MQTT or Kafka, a subject, a routing key; null without. */
  readonly topic: string | null
}
export type QuarantineEntryOfStream = {
  readonly streamId: string
  readonly streamName: string

  /** Offset of the reading in the journal. */
  readonly id: number
  readonly reason: string
  readonly message: string

  /** What to do about it, for people. */
  readonly remedy: string
  readonly details: readonly ErrorDetail[]

  /** The bytes as they came. */
  readonly payload: string

  /** Of the payload. */
  readonly encoding: 'utf8' | 'base64'
  readonly timestamp: string | null
  readonly receivedAt: string
  readonly source: string

  /** Of the message: a topic of MQTT or Kafka, a subject, a routing key; null without. */
  readonly topic: string | null
}
export type QueryPage = {
  readonly start: string
  readonly end: string | null
  readonly aggregation: string
  readonly groupBy: string
  readonly data: readonly QueryPoint[]
  readonly nextCursor: string | null
}

/** The fields that were asked for, under the keys that were asked for. */
export type QueryPoint = {
  /** The start of the bucket. */
  readonly timestamp: string

  /** Where points are grouped by stream. */
  readonly streamId?: string | undefined

  /** The name of the device, where points are grouped by device. */
  readonly device?: string | null | undefined

  /** Its value, where points are grouped by a tag. */
  readonly tag?: string | null | undefined

  /** Its value, where points are grouped by a field. */
  readonly field?: string | number | boolean | null | undefined

  /** Readings in the bucket. */
  readonly count: number
  readonly [name: string]: unknown
}

/** The fields of the stream, and its time unless the time of receipt will do. */
export type Reading = {
  /** Or the timestampField of the source. */
  readonly timestamp?: string | undefined
  readonly [name: string]: unknown
}
export type ReadingsPage = {
  readonly streamId: string
  readonly start: string
  readonly end: string | null
  readonly aggregation: string
  readonly data: readonly DataPoint[]
  readonly nextCursor: string | null
}
export type Receipt = {
  readonly format: 'streamvault-receipt-1'
  readonly streamId: string
  readonly timestamp: string
  readonly answeredAt: string
  readonly readings: readonly {
    readonly outcome:
      | 'stored'
      | 'pending'
      | 'quarantined'
      | 'filtered'
      | 'unchanged'
      | 'duplicate'
      | 'gone'

    /** The time and all fields, those of `extra` beside the declared ones. */
    readonly reading: { readonly timestamp: string; readonly [name: string]: unknown } | null

    /** Its canonical text, which seals have the hash of. */
    readonly text: string | null

    /** Different for each reading of its time, in hex. */
    readonly digest: string | null
    readonly arrival: {
      readonly receivedAt: string | null
      readonly how: {
        /** The type of the stream. */
        readonly type: string

        /** Of the source, where it names one. */
        readonly protocol: string | null

        /** Who sent it, of a refused reading. */
        readonly source: string | null

        /** Which of several devices sent it. */
        readonly sender: string | null
      }
      readonly kind: 'received' | 'imported' | 'redriven' | null
    }
    readonly journal: {
      /** The place of the entry in the journal. */
      readonly offset: number | null
      readonly problem: { readonly error: string; readonly message: string } | null
    }
    readonly definition: {
      /** The version that judged it. */
      readonly version: number | null
      readonly createdAt: string | null

      /** Whether the entry names the version; else it was the newest one at receipt. */
      readonly isExact: boolean
    }
    readonly verdict: {
      readonly accepted: boolean
      readonly reason: string | null
      readonly message: string | null
      readonly details: readonly ErrorDetail[]
    }
    readonly windows: readonly {
      readonly start: string
      readonly end: string
      readonly revision: number
      readonly count: number
      readonly computedAt: string | null
    }[]
    readonly alerts: readonly {
      readonly alertId: string
      readonly ruleId: string
      readonly step: number

      /** `reading`, or `timer` for a step that follows from it. */
      readonly cause: string
      readonly from: string
      readonly to: string
      readonly at: string

      /** The place of the entry in the journal. */
      readonly journalOffset: number
      readonly eventId: string | null
    }[]
    readonly events: readonly {
      readonly eventId: string

      /** Null for an event that is kept no longer. */
      readonly type: string | null
      readonly at: string | null
      readonly deliveries: readonly {
        readonly deliveryId: string

        /** `webhook` or `mail`. */
        readonly channel: string

        /** The webhook, or the recipient of mail. */
        readonly receiverId: string
        readonly state: string
        readonly attempts: readonly {
          readonly attempt: number
          readonly attemptedAt: string
          readonly statusCode: number | null
          readonly durationMs: number
          readonly delivered: boolean
          readonly message: string
        }[]
      }[]
      readonly inbox: readonly {
        readonly entryId: string
        readonly createdAt: string
        readonly title: string
      }[]
    }[]

    /** The newest seal with a path to this reading; without one, the newest of its stretch. */
    readonly seal: {
      readonly start: string
      readonly end: string

      /** From 1. A late reading leads to the next revision. */
      readonly revision: number

      /** How many readings were stored in the stretch. */
      readonly count: number

      /** Of the tree over the texts of these readings: hexadecimal. */
      readonly root: string

      /** The root of the revision before. */
      readonly previous: string | null
      readonly sealedAt: string

      /** `SERVICE_RECEIVED` until the seal is in a batch. */
      readonly status:
        | 'SERVICE_RECEIVED'
        | 'METADATA_STORED'
        | 'LEDGER_SUBMITTED'
        | 'COMPLETED'
        | 'FAILED'
        | 'ERROR'
      readonly tx_hash: string | null

      /** Null until the seal is in a batch. */
      readonly proof: SealProof | null

      /** From the text of the reading to the root. */
      readonly path: MerklePath | null

      /** Why there is no path. */
      readonly problem: { readonly error: string; readonly message: string } | null
    } | null
    readonly missing: readonly {
      readonly what: string
      readonly reason: 'trimmed' | 'expired' | 'removed' | 'not_kept' | 'not_searched' | 'too_many'
      readonly message: string
    }[]
  }[]

  /** Whether there are more readings of that time. */
  readonly hasMore: boolean
}
export type Recovery = {
  /**
   * The first moment of what was missed. RFC 3339, `now`, `-24h`, or a number since 1970
   * (docs/queries.md#times).
   */
  readonly since: string | number
}
export type RedisSource = {
  /** what is spoken */
  readonly protocol: 'redis'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /**
   * `redis://host:port/database`, or `rediss://` with TLS. The port is 6379 and the database 0
   * if nothing is said
   */
  readonly endpoint: string

  /** the key of the stream: one. It need not be there yet */
  readonly topic: string

  /**
   * `earliest`: what the stream holds, too. `latest`: what is added from now on. It is of no
   * use once something was read
   */
  readonly startFrom?: 'earliest' | 'latest' | undefined

  /** the name of a consumer group, see below. Without it the stream is read alone */
  readonly group?: string | undefined

  /** the field of an entry whose value is the payload, see below. Without it all its fields are */
  readonly payloadField?: string | undefined

  /**
   * `password`, with a `username` (ACL) or without; a `certificate` with its `privateKey`, in
   * PEM; or both
   */
  readonly credentials?:
    | {
        /** A user name. */
        readonly username?: string | undefined

        /** The password of the user. */
        readonly password?: string | undefined

        /** What we are known by, in PEM. */
        readonly certificate?: string | undefined

        /** Its key, in PEM, without a pass phrase. */
        readonly privateKey?: string | undefined
      }
    | undefined

  /** the `ca` to trust and the `servername` to expect */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type RefusedReading = {
  /** Offset of the reading in the journal. */
  readonly id: number
  readonly timestamp: string

  /** Its declared fields. */
  readonly values: Readonly<Record<string, unknown>>

  /** What the server said. */
  readonly message: string
}
export type RejectedReading = {
  /** Its place in the batch. */
  readonly index: number

  /** Why; as in the quarantine. */
  readonly error: string
  readonly message: string

  /** What to do about it, for people. */
  readonly remedy?: string | undefined
  readonly details?: readonly ErrorDetail[] | undefined
}
export type Seal = {
  readonly start: string
  readonly end: string

  /** From 1. A late reading leads to the next revision. */
  readonly revision: number

  /** How many readings were stored in the stretch. */
  readonly count: number

  /** Of the tree over the texts of these readings: hexadecimal. */
  readonly root: string

  /** The root of the revision before. */
  readonly previous: string | null
  readonly sealedAt: string

  /** `SERVICE_RECEIVED` until the seal is in a batch. */
  readonly status:
    | 'SERVICE_RECEIVED'
    | 'METADATA_STORED'
    | 'LEDGER_SUBMITTED'
    | 'COMPLETED'
    | 'FAILED'
    | 'ERROR'
  readonly tx_hash: string | null

  /** Null until the seal is in a batch. */
  readonly proof: SealProof | null
}
export type SealProof = {
  readonly format: 'streamvault-seal-proof-1'

  /** The seal: JSON, byte for byte a leaf of the batch. */
  readonly text: string
  readonly batch: {
    /** The batch: JSON, byte for byte what the CID of the proof is of. */
    readonly text: string
    readonly path: MerklePath
  }
  readonly proof: Proof
}
export type SecretRotation = {
  readonly secret?: string | undefined
  readonly overlap_seconds?: number | undefined
}
export type Signature = {
  readonly id: string
  readonly created_at: string
  readonly attachment_id: string

  /** The username of the user who has asked for it or brought it; null for a deleted user. */
  readonly signed_by: string | null
  readonly algorithm: 'Ed25519' | 'ES256'

  /** A JWK (RFC 7517). */
  readonly public_key: {
    readonly kty: 'OKP' | 'EC'
    readonly crv: 'Ed25519' | 'P-256'
    readonly x: string

    /** Of P-256 only. */
    readonly y?: string | undefined
  } | null

  /** base64url; empty as long as the service has not signed. */
  readonly signature: string

  /** What is signed, in UTF-8; empty as long as the content is not there. */
  readonly signed_text: string

  /** Of the content, once it is signed or checked. */
  readonly cid: string
  readonly status: string
  readonly tx_hash: string
  readonly failure: {
    /** A code, such as `upload_expired`. */
    readonly error: string
    readonly message: string
  } | null
  readonly progress: readonly ProgressEntry[]
}
export type SignatureProof = {
  readonly format: 'streamvault-signature-proof-1'

  /** The signature as it is anchored: JSON, byte for byte what the CID of the proof is of. */
  readonly metadata: string
  readonly proof: Proof
}

/**
 * Where readings come from. The type of the stream says which of these it can be, and
 * `protocol` which one it is.
 */
export type Source =
  | DeviceSource
  | DeviceSourceUnnamed
  | CoapSource
  | ApiSource
  | PolledDatabaseSource
  | PostgresLogSource
  | KafkaSource
  | NatsSource
  | AmqpSource
  | RedisSource
  | WebSocketSource
  | SseSource
  | WebhookSource
  | OpcUaSource
  | ModbusSource
  | BacnetSource

/** Of streams whose readings are fetched from somewhere. */
export type SourceStatus = {
  readonly state: 'connecting' | 'running' | 'waiting' | 'failing' | 'paused'

  /** Since when it has been in this state. */
  readonly since: string
  readonly lastError?: string | undefined

  /** What to do about the last error. */
  readonly remedy?: string | undefined

  /** Failures in a row. */
  readonly retries: number

  /** On disk and acknowledged, since the service started. */
  readonly messages: number

  /** Left out because they were retained (`source.retained`), since the service started. */
  readonly skipped?: number | undefined
  readonly lastMessage: string | null

  /** Arrived, and not on disk yet. */
  readonly unacknowledged: number

  /** Of a source with a schedule, since the service started. */
  readonly rounds?: number | undefined

  /** Times that passed while a round was under way. */
  readonly overlapped?: number | undefined

  /** Times that passed while nothing ran: one round follows. */
  readonly missed?: number | undefined
  readonly lastRound?: { readonly started: string; readonly ended: string } | null | undefined
  readonly nextRound?: string | null | undefined

  /** Seconds for which a round has been due that is not done. */
  readonly lag?: number | undefined
}
export type SseSource = {
  /** what is spoken */
  readonly protocol: 'sse'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /** `http://` or `https://`, with a query where it needs one; no credentials in it */
  readonly endpoint: string

  /** up to 50. `Last-Event-ID` among them is where to begin for the first time */
  readonly headers?: Readonly<Record<string, string>> | undefined

  /** who is asking: [`none`, `basic`, `bearer`, `apiKey`, `oauth2`](api-pull.md#authentication) */
  readonly authentication?:
    | {
        /** how it is proved who asks */
        readonly type: 'none' | 'basic' | 'bearer' | 'apiKey' | 'oauth2'

        /** of `basic` */
        readonly username?: string | undefined

        /** of `basic` */
        readonly password?: string | undefined

        /** of `bearer` */
        readonly token?: string | undefined

        /** of `apiKey`: what the header, or the parameter, is called */
        readonly name?: string | undefined

        /** of `apiKey` */
        readonly value?: string | undefined

        /** of `apiKey`: where it stands */
        readonly in?: 'header' | 'query' | undefined

        /** of `oauth2`: who gives tokens */
        readonly tokenUrl?: string | undefined

        /** of `oauth2` */
        readonly clientId?: string | undefined

        /** of `oauth2` */
        readonly clientSecret?: string | undefined

        /** of `oauth2` */
        readonly scope?: string | undefined

        /** of `oauth2`: where the secret stands in the request for a token */
        readonly secretIn?: 'header' | 'body' | undefined
      }
    | undefined

  /**
   * `ca`: whom to trust, in PEM; the usual authorities when left out. `servername`: whom to
   * expect where that is not the host
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /** for so long the server may send nothing, from the request on; an hour at most */
  readonly timeout?: string | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}

/** received is the sum of all the others. */
export type StreamCounters = {
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  readonly unchanged: number
  readonly filtered: number
  readonly quarantined: number
  readonly discarded: number
  readonly pending: number
}
export type StreamPermission = {
  readonly id: string
  readonly created_at: string
  readonly stream_id: string
  readonly user_id: string

  /** Empty when the user is deleted. */
  readonly username: string

  /** READ lets see it, WRITE also change it. */
  readonly role: 'READ' | 'WRITE'
  readonly granted_by: string
  readonly expires_at: string | null
}
export type StreamStatus = {
  readonly streamId: string
  readonly status: string
  readonly lastDataReceived: string | null
  readonly dataPointsToday: number
  readonly errorCount: number

  /** Alerts that fire, and are not acknowledged. */
  readonly firing: {
    readonly alerts: number

    /** Of the worst of them. */
    readonly severity: 'info' | 'warning' | 'critical' | null
  }
  readonly health: {
    readonly status: 'healthy' | 'degraded'
    readonly problem?: string | undefined

    /** Seconds since the stream was created. */
    readonly uptime: number

    /** Milliseconds from receipt to the store. */
    readonly avgLatency: number
  }
  readonly processing: {
    readonly queueLength: number

    /** Readings stored per second. */
    readonly processingRate: number
    readonly lastProcessed: string | null
  }

  /** Of the stored ones, how many were removed again. */
  readonly deleted: number

  /** Of the stored ones, how many were older than they are to be kept. */
  readonly expired: number

  /** How long data is kept, as the stream says, or its vault. Null: for ever. */
  readonly retention: {
    readonly raw: string | null
    readonly aggregated: string | null

    /** What is older has not been kept; null when everything was. */
    readonly keptFrom: string | null
  }
  readonly counters: StreamCounters
  readonly source?: SourceStatus | undefined
  readonly webhook?: InboundWebhookStatus | undefined
}
export type TakenUpload = {
  /** CIDv1 of the file, or of the folder of the files of an archive. */
  readonly cid: string

  /** Hex; null for an archive. */
  readonly sha256: string | null

  /** By the bytes; null for an archive. */
  readonly media_type: string | null

  /** Bytes of all files. */
  readonly size: number
  readonly file_count: number
}
export type Template = {
  readonly id: string
  readonly created_at: string
  readonly name: string
  readonly description: string | null
  readonly author: string | null
  readonly status: string

  /** CID of the folder of its files. */
  readonly template_dir: string

  /** Where its image is, for those who may see it. */
  readonly default_image: string
  readonly default_image_cid: string

  /** Empty when there is nothing to upload. */
  readonly image_upload_url: string

  /** Empty when there is nothing to upload. */
  readonly upload_url: string

  /** Bytes. */
  readonly size: number
  readonly public: boolean
  readonly hint: string

  /** Asset codes. */
  readonly required_streams: readonly string[]
}
export type TemplateChange = {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly public?: boolean | undefined
  readonly hint?: string | undefined

  /** Asset codes that a vault needs. */
  readonly required_streams?: readonly string[] | undefined
  readonly author?: string | null | undefined
}
export type UnroutedTopic = {
  readonly topic: string

  /** Messages that were dropped. */
  readonly count: number

  /**
   * Why the last of them was: no stream has the topic; it belongs to the service or to a
   * stream that is not the client's; the key may not send readings; the fleet denies the
   * device; or the fleet has as many streams as it may have.
   */
  readonly reason: 'no_stream' | 'not_own' | 'no_permission' | 'device_denied' | 'fleet_full'
  readonly firstAt: string
  readonly lastAt: string

  /** Of the client that sent the last of them. */
  readonly clientId: string

  /** The key, or the device, that it was connected with. */
  readonly apiKeyId: string

  /** The device, for a client that is one. */
  readonly deviceId: string | null

  /** The last of them. */
  readonly example: {
    /** Of the payload. */
    readonly encoding: 'utf8' | 'base64'

    /** The first KiB of it. */
    readonly payload: string

    /** How long all of it was. */
    readonly bytes: number
  }
}
export type User = {
  readonly id: string
  readonly first_name: string
  readonly last_name: string
  readonly username: string
  readonly user_profile_picture: boolean
  readonly created_at: string
  readonly entities: readonly Entity[]
  readonly credentials: readonly Credential[]

  /** Empty when there is nothing to upload. */
  readonly image_upload_url: string

  /** Empty when there is no picture. */
  readonly image_download_url: string
}
export type Vault = {
  readonly id: string
  readonly created_at: string
  readonly name: string
  readonly description: string | null
  readonly template_id: string
  readonly status: string
  readonly ledger: Ledger
  readonly tx_hash: string
  readonly nft_network_issuer: string
  readonly nft_network_owner: string
  readonly nft_network_id: string
  readonly cid: string

  /** Of an image of its own. */
  readonly image_cid: string

  /** Of the image that its template had when the vault was made. */
  readonly default_image_cid: string
  readonly metadata_cid: string

  /** In the order of its template. */
  readonly streams: readonly AssetStream[]
  readonly public: boolean
  readonly json_payload: string | null

  /** Empty when there is nothing to upload. */
  readonly image_upload_url: string
  readonly custom_image: boolean
  readonly progress: readonly ProgressEntry[]
  readonly failure: {
    /** A code, such as `upload_expired`. */
    readonly error: string
    readonly message: string
  } | null
}
export type VaultChange = {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly public?: boolean | undefined
}
export type VaultPermission = {
  readonly id: string
  readonly created_at: string
  readonly vault_id: string
  readonly user_id: string

  /** Empty when the user is deleted. */
  readonly username: string

  /** READ lets see it, WRITE also change it. */
  readonly role: 'READ' | 'WRITE'
  readonly granted_by: string
  readonly expires_at: string | null
}
export type VaultRetention = {
  /** Readings. Null: for ever. */
  readonly raw: string | null

  /** Results of windows. Null: for ever. */
  readonly aggregated: string | null
}
export type VaultRetentionChange = {
  /** Readings. Null: for ever. */
  readonly raw?: string | null | undefined

  /** Results of windows. Null: for ever. */
  readonly aggregated?: string | null | undefined
}
export type Verification = {
  readonly id: string
  readonly vault_id: string
  readonly requested_at: string

  /** The event `vault.verification_complete` reports its end. */
  readonly status: 'pending'
}
export type VerifiedCid = {
  readonly cid: string
  readonly status: string
  readonly final: boolean
  readonly ledger: 'XRPL' | 'POLYGON_ZKEVM' | 'POLYGON_POS' | 'ETHEREUM'
  readonly network: string
  readonly tx_hash: string | null

  /** When it was on the ledger at latest. */
  readonly block_time: string | null

  /** What it is of, where that is public and still there. */
  readonly public: { readonly type: string; readonly id: string; readonly name: string } | null

  /** What that shows, in words. */
  readonly shows: readonly string[]
  readonly does_not_show: readonly string[]

  /** Who has signed that content: the first hundred that were checked, the newest last. */
  readonly signatures: readonly {
    readonly algorithm: 'Ed25519' | 'ES256'
    readonly public_key: {
      readonly kty: string
      readonly crv: string
      readonly x: string
      readonly y?: string | undefined
    }

    /** Where the service has signed: its key in /.well-known/signing-keys.json. */
    readonly key_id?: string | undefined

    /** base64url. */
    readonly signature: string
    readonly signed_text: string

    /** When it was asked for, or brought. */
    readonly signed_at: string
    readonly status: string
    readonly tx_hash: string
    readonly network: string
  }[]
  readonly proof: Proof
}
export type WebSocketSource = {
  /** what is spoken */
  readonly protocol: 'websocket'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /** `ws://` or `wss://`, with a path and a query; no credentials in it */
  readonly endpoint: string

  /**
   * up to 50. They are secrets, like passwords. Those of the connection and of the length are
   * ours, and so are `accept-encoding`, `range` and those of conditional requests
   */
  readonly headers?: Readonly<Record<string, string>> | undefined

  /** who is asking: [`none`, `basic`, `bearer`, `apiKey`, `oauth2`](api-pull.md#authentication) */
  readonly authentication?:
    | {
        /** how it is proved who asks */
        readonly type: 'none' | 'basic' | 'bearer' | 'apiKey' | 'oauth2'

        /** of `basic` */
        readonly username?: string | undefined

        /** of `basic` */
        readonly password?: string | undefined

        /** of `bearer` */
        readonly token?: string | undefined

        /** of `apiKey`: what the header, or the parameter, is called */
        readonly name?: string | undefined

        /** of `apiKey` */
        readonly value?: string | undefined

        /** of `apiKey`: where it stands */
        readonly in?: 'header' | 'query' | undefined

        /** of `oauth2`: who gives tokens */
        readonly tokenUrl?: string | undefined

        /** of `oauth2` */
        readonly clientId?: string | undefined

        /** of `oauth2` */
        readonly clientSecret?: string | undefined

        /** of `oauth2` */
        readonly scope?: string | undefined

        /** of `oauth2`: where the secret stands in the request for a token */
        readonly secretIn?: 'header' | 'body' | undefined
      }
    | undefined

  /**
   * `ca`: whom to trust, in PEM; the usual authorities when left out. `servername`: whom to
   * expect where that is not the host
   */
  readonly tls?:
    | {
        /** Whom to trust instead of the usual authorities, in PEM. */
        readonly ca?: string | undefined

        /** Whom to expect, where that is not the host. */
        readonly servername?: string | undefined
      }
    | undefined

  /** one that the server has to agree to */
  readonly subprotocol?: string | undefined

  /**
   * what is said when the connection is there: a text, which is sent as it is, or an object,
   * which is sent as JSON; or a list of up to 20 of them
   */
  readonly subscribe?:
    | string
    | Readonly<Record<string, unknown>>
    | readonly (string | Readonly<Record<string, unknown>>)[]
    | undefined

  /** `token`: a secret that stands where `subscribe` has `{token}` */
  readonly credentials?:
    | {
        /** The token. */
        readonly token: string
      }
    | undefined

  /** the field of a message that says where it stands: a name, or names with dots between them */
  readonly cursorField?: string | undefined

  /** what stands for `{cursor}` for the first time: a text or an integer */
  readonly cursorStart?: string | number | undefined

  /** how often the server is asked whether it is there (ping); an hour at most */
  readonly heartbeat?: string | undefined

  /** [secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys */
  readonly secrets?: Readonly<Record<string, string>> | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type Webhook = {
  readonly id: string
  readonly created_at: string
  readonly url: string
  readonly event_types: readonly string[]
  readonly description: string | null
  readonly secret: string | null
  readonly custom_headers: Readonly<Record<string, string>>
  readonly resource_filters: {
    readonly vault_ids: readonly string[]
    readonly stream_ids: readonly string[]
  }
  readonly status: 'ACTIVE' | 'PAUSED' | 'DISABLED'
  readonly consecutive_failures: number

  /** When it last answered an attempt with 2xx. */
  readonly last_delivery_at: string | null

  /** What to know about the types that were named. */
  readonly warnings: readonly string[]
}
export type WebhookChange = {
  /** http or https, port 80 or 443, and no private address. */
  readonly url?: string | undefined
  readonly event_types?:
    | readonly (
        | 'vault.created'
        | 'vault.completed'
        | 'vault.failed'
        | 'vault.error'
        | 'vault.deleted'
        | 'stream.created'
        | 'stream.completed'
        | 'stream.failed'
        | 'stream.error'
        | 'stream.deleted'
        | 'data_attachment.created'
        | 'data_attachment.completed'
        | 'data_attachment.failed'
        | 'data_attachment.deleted'
        | 'signature.created'
        | 'signature.completed'
        | 'signature.failed'
        | 'signature.error'
        | 'asset.created'
        | 'asset.deployed'
        | 'asset.error'
        | 'vault.permission.granted'
        | 'vault.permission.revoked'
        | 'vault.permission.updated'
        | 'stream.permission.granted'
        | 'stream.permission.revoked'
        | 'stream.permission.updated'
        | 'vault.updated'
        | 'stream.updated'
        | 'data_attachment.updated'
        | 'data_attachment.received'
        | 'signature.updated'
        | 'asset.updated'
      )[]
    | undefined
  readonly description?: string | null | undefined

  /** What requests are signed with; null: they are not. */
  readonly secret?: string | null | undefined
  readonly custom_headers?: Readonly<Record<string, string>> | undefined
  readonly resource_filters?:
    | {
        readonly vault_ids?: readonly string[] | undefined
        readonly stream_ids?: readonly string[] | undefined
      }
    | undefined
  readonly status?: 'ACTIVE' | 'PAUSED' | 'DISABLED' | undefined
}
export type WebhookSource = {
  /** what is spoken */
  readonly protocol: 'webhook'

  /** what payloads without a content type are in: see [formats](payload-formats.md) */
  readonly format?:
    | 'json'
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'plain'
    | 'csv'
    | 'form'
    | 'senml-json'
    | 'senml-cbor'
    | 'protobuf'
    | 'sparkplug'
    | 'line-protocol'
    | 'otlp'
    | 'prometheus'
    | 'prometheus-remote-write'
    | 'cloudevents'
    | undefined

  /** of `plain`: the field that a payload is the value of */
  readonly field?: string | undefined

  /** of `csv`: the fields of its columns, in their order; null for one that is left out */
  readonly columns?: readonly (string | null)[] | undefined

  /** of `csv`: what stands between columns */
  readonly delimiter?: ',' | ';' | '\t' | '|' | ' ' | undefined

  /** of `csv`: how many lines at the beginning of each message are not readings */
  readonly headerLines?: number | undefined

  /**
   * of `csv` with `headerLines` and without `columns`: which header line names the columns;
   * the last one if not given
   */
  readonly columnsLine?: number | undefined

  /** of SenML and Sparkplug: the fields that names of the other side stand for */
  readonly names?: Readonly<Record<string, string>> | undefined

  /** of `protobuf`: how its messages are made */
  readonly protobuf?:
    | {
        /** Base64 of a google.protobuf.FileDescriptorSet. */
        readonly descriptor: string

        /** The full name of the message that a payload is. */
        readonly message: string

        /** A repeated field of it, whose elements are the readings. */
        readonly repeated?: string | undefined
      }
    | undefined

  /** of `line-protocol`: the unit of its times; `m` is a minute */
  readonly precision?: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h' | undefined

  /**
   * how messages without a header for it are compressed, over MQTT for example: see
   * [compressed messages](payload-formats.md#compressed-messages)
   */
  readonly contentCoding?: 'gzip' | 'zstd' | undefined

  /**
   * [where the readings are](payload-formats.md#where-the-readings-are) in a message that is
   * not a reading itself
   */
  readonly items?:
    | string
    | {
        readonly path: string
        readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
        readonly key?: string | undefined
        readonly value?: string | undefined
        readonly columns?: string | readonly (string | null)[] | undefined
        readonly start?: string | undefined
        readonly interval?: number | string | undefined
        readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
        readonly name?: string | undefined
        readonly time?: string | undefined
      }
    | readonly (
        | string
        | {
            readonly path: string
            readonly as?: 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot' | undefined
            readonly key?: string | undefined
            readonly value?: string | undefined
            readonly columns?: string | readonly (string | null)[] | undefined
            readonly start?: string | undefined
            readonly interval?: number | string | undefined
            readonly unit?: 's' | 'ms' | 'us' | 'ns' | undefined
            readonly name?: string | undefined
            readonly time?: string | undefined
          }
      )[]
    | undefined

  /**
   * `keep` what is not a field of a reading under `extra`, or `drop` it: [what no field
   * reads](payload-formats.md#what-is-not-read)
   */
  readonly extra?: 'keep' | 'drop' | undefined

  /** [a schema for each type of event](event-streams.md#events-of-several-types), by its name */
  readonly eventTypes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

  /** the field of a payload that names the type of the event */
  readonly eventTypeField?: string | undefined

  /** how messages are signed: above */
  readonly signature: {
    /** who the signature was invented by; `hmac` and `token` are for all others */
    readonly scheme:
      | 'standard-webhooks'
      | 'github'
      | 'stripe'
      | 'slack'
      | 'shopify'
      | 'hmac'
      | 'token'

    /** of `hmac` and `token`: the header with the signature */
    readonly header?: string | undefined

    /**
     * of `token`, in place of `header`: the parameter of the address with the secret, for a
     * sender that cannot set headers
     */
    readonly parameter?: string | undefined

    /** of `hmac` */
    readonly algorithm?: 'sha256' | 'sha512' | 'sha1' | undefined

    /** of `hmac` */
    readonly encoding?: 'hex' | 'base64' | 'base64url' | undefined

    /** of `hmac` and `token`: what stands before it in the header */
    readonly prefix?: string | undefined

    /** of `hmac`: the header with the time that is signed */
    readonly timestampHeader?: string | undefined

    /**
     * of `hmac`: what is signed, with `{body}`, `{timestamp}` and `{id}` in their places.
     * Without it `{body}`, or `{timestamp}.{body}` with a `timestampHeader`
     */
    readonly signedContent?: string | undefined

    /** how far the signed time may be from now, before or after */
    readonly tolerance?: string | undefined
  }

  /**
   * `secret`: what messages are signed with: 8 characters at least; of Standard Webhooks
   * base64 of 24 to 64 bytes
   */
  readonly credentials: {
    /** The secret. */
    readonly secret: string
  }

  /**
   * the header that names a message, the same when it is sent again; not with
   * `standard-webhooks`, which has its own
   */
  readonly idHeader?: string | undefined

  /** the header that names the type of an event; a type in the body goes before it */
  readonly eventTypeHeader?: string | undefined

  /**
   * [where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A
   * reading without it is refused where this is said
   */
  readonly timestampField?: string | undefined

  /**
   * how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
   * `local`, or a pattern
   */
  readonly timestampFormat?: string | undefined

  /** of times that name no zone */
  readonly timezone?: string | undefined

  /** a reading without its time is taken, and has that of its receipt */
  readonly timestampOptional?: boolean | undefined

  /** times before it are refused as implausible. Undefined: numbers that mean January 1970 are */
  readonly timestampMin?: string | undefined

  /** `{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns` */
  readonly timestampOffset?:
    | {
        /** Where the number is that is added. */
        readonly path: string

        /** Its unit. */
        readonly unit: 's' | 'ms' | 'us' | 'ns'
      }
    | undefined

  /** [values that stand for none](payload-formats.md#what-a-value-means), in any field */
  readonly missing?: readonly (string | number | boolean | null)[] | undefined

  /**
   * `typed`: [texts are read by the types of their
   * fields](payload-formats.md#texts-that-are-read-by-type)
   */
  readonly texts?: 'typed' | 'as-sent' | undefined

  /** of typed texts: what stands before the decimals of a number */
  readonly decimal?: '.' | ',' | undefined
}
export type WebhookTest = {
  /** One that it is subscribed to; the first of them unless this is given. */
  readonly event_type?: string | undefined
}
