#include "CTexts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const char *const text_schema_checkpoints_and_runs = (const char[]){
#embed "Store/01-checkpoints-and-runs.sql"
    , 0};
const char *const text_schema_export_folder = (const char[]){
#embed "Store/02-export-folder.sql"
    , 0};
const char *const text_schema_work = (const char[]){
#embed "Store/03-work.sql"
    , 0};
const char *const text_schema_run_owners = (const char[]){
#embed "Store/04-run-owners.sql"
    , 0};
const char *const text_schema_origins = (const char[]){
#embed "Store/05-origins.sql"
    , 0};
const char *const text_schema_pins = (const char[]){
#embed "Store/06-pins.sql"
    , 0};
const char *const text_schema_batches = (const char[]){
#embed "Store/07-batches.sql"
    , 0};
const char *const text_schema_recordings = (const char[]){
#embed "Store/08-recordings.sql"
    , 0};
const char *const text_schema_verification = (const char[]){
#embed "Store/09-verification.sql"
    , 0};
const char *const text_schema_change_log = (const char[]){
#embed "Store/10-change-log.sql"
    , 0};
const char *const text_schema_note_names = (const char[]){
#embed "Store/11-note-names.sql"
    , 0};
const char *const text_schema_format = (const char[]){
#embed "Store/12-format.sql"
    , 0};
const char *const text_schema_receipts = (const char[]){
#embed "Store/13-receipts.sql"
    , 0};
const char *const text_schema_claims = (const char[]){
#embed "Store/14-claims.sql"
    , 0};
const char *const text_schema_identity = (const char[]){
#embed "Store/15-identity.sql"
    , 0};
const char *const text_schema_places = (const char[]){
#embed "Store/16-places.sql"
    , 0};
const char *const text_schema_stamps = (const char[]){
#embed "Store/17-stamps.sql"
    , 0};
const char *const text_schema_watches = (const char[]){
#embed "Store/18-watches.sql"
    , 0};
const char *const text_schema_run_order = (const char[]){
#embed "Store/19-run-order.sql"
    , 0};
const char *const text_schema_receipt_head = (const char[]){
#embed "Store/20-receipt-head.sql"
    , 0};
const char *const text_schema_transcripts = (const char[]){
#embed "Store/21-transcripts.sql"
    , 0};
const char *const text_schema_open_claims = (const char[]){
#embed "Store/22-open-claims.sql"
    , 0};
const char *const text_schema_one_log = (const char[]){
#embed "Store/23-one-log.sql"
    , 0};
const char *const text_schema_export_owners = (const char[]){
#embed "Store/24-export-owners.sql"
    , 0};
const char *const text_schema_word_corrections = (const char[]){
#embed "Store/25-word-corrections.sql"
    , 0};
const char *const text_schema_run_states = (const char[]){
#embed "Store/26-run-states.sql"
    , 0};
const char *const text_schema_export_sounds = (const char[]){
#embed "Store/27-export-sounds.sql"
    , 0};
const char *const text_schema_page_checksums = (const char[]){
#embed "Store/28-page-checksums.sql"
    , 0};
const char *const text_schema_warnings = (const char[]){
#embed "Store/29-warnings.sql"
    , 0};
const char *const text_schema_deliveries = (const char[]){
#embed "Store/30-deliveries.sql"
    , 0};
const char *const text_schema_documents = (const char[]){
#embed "Store/31-documents.sql"
    , 0};
const char *const text_schema_delivered_versions = (const char[]){
#embed "Store/32-delivered-versions.sql"
    , 0};
