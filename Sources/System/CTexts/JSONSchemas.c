#include "CTexts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const char *const text_json_definitions = (const char[]){
#embed "JSON/common.json"
    , 0};

// One for each command with --json, by name; batch-report is that of batch.json, and
// delivered-recording that of the documents at destinations.
static const text_named schemas[] = {
    {"batch", (const char[]){
#embed "JSON/batch.json"
    , 0}},
    {"batch-report", (const char[]){
#embed "JSON/batch-report.json"
    , 0}},
    {"clean", (const char[]){
#embed "JSON/clean.json"
    , 0}},
    {"convert", (const char[]){
#embed "JSON/convert.json"
    , 0}},
    {"deliver-check", (const char[]){
#embed "JSON/deliver-check.json"
    , 0}},
    {"deliver-destinations", (const char[]){
#embed "JSON/deliver-destinations.json"
    , 0}},
    {"deliver-fetch", (const char[]){
#embed "JSON/deliver-fetch.json"
    , 0}},
    {"deliver-link", (const char[]){
#embed "JSON/deliver-link.json"
    , 0}},
    {"deliver-missing", (const char[]){
#embed "JSON/deliver-missing.json"
    , 0}},
    {"deliver-queue", (const char[]){
#embed "JSON/deliver-queue.json"
    , 0}},
    {"deliver-run", (const char[]){
#embed "JSON/deliver-run.json"
    , 0}},
    {"deliver-send", (const char[]){
#embed "JSON/deliver-send.json"
    , 0}},
    {"deliver-verify", (const char[]){
#embed "JSON/deliver-verify.json"
    , 0}},
    {"delivered-recording", (const char[]){
#embed "JSON/delivered-recording.json"
    , 0}},
    {"inbox", (const char[]){
#embed "JSON/inbox.json"
    , 0}},
    {"mix", (const char[]){
#embed "JSON/mix.json"
    , 0}},
    {"normalize", (const char[]){
#embed "JSON/normalize.json"
    , 0}},
    {"pipeline-check", (const char[]){
#embed "JSON/pipeline-check.json"
    , 0}},
    {"pipeline-crashtest", (const char[]){
#embed "JSON/pipeline-crashtest.json"
    , 0}},
    {"pipeline-graph", (const char[]){
#embed "JSON/pipeline-graph.json"
    , 0}},
    {"pipeline-list", (const char[]){
#embed "JSON/pipeline-list.json"
    , 0}},
    {"pipeline-plan", (const char[]){
#embed "JSON/pipeline-plan.json"
    , 0}},
    {"play", (const char[]){
#embed "JSON/play.json"
    , 0}},
    {"plugin", (const char[]){
#embed "JSON/plugin.json"
    , 0}},
    {"proof-key", (const char[]){
#embed "JSON/proof-key.json"
    , 0}},
    {"proof-ledger", (const char[]){
#embed "JSON/proof-ledger.json"
    , 0}},
    {"proof-quote", (const char[]){
#embed "JSON/proof-quote.json"
    , 0}},
    {"proof-stamp", (const char[]){
#embed "JSON/proof-stamp.json"
    , 0}},
    {"resume", (const char[]){
#embed "JSON/resume.json"
    , 0}},
    {"run", (const char[]){
#embed "JSON/run.json"
    , 0}},
    {"runs-forget", (const char[]){
#embed "JSON/runs-forget.json"
    , 0}},
    {"runs-list", (const char[]){
#embed "JSON/runs-list.json"
    , 0}},
    {"runs-show", (const char[]){
#embed "JSON/runs-show.json"
    , 0}},
    {"search", (const char[]){
#embed "JSON/search.json"
    , 0}},
    {"stages", (const char[]){
#embed "JSON/stages.json"
    , 0}},
    {"status", (const char[]){
#embed "JSON/status.json"
    , 0}},
    {"store-backup", (const char[]){
#embed "JSON/store-backup.json"
    , 0}},
    {"store-check", (const char[]){
#embed "JSON/store-check.json"
    , 0}},
    {"store-gc", (const char[]){
#embed "JSON/store-gc.json"
    , 0}},
    {"store-info", (const char[]){
#embed "JSON/store-info.json"
    , 0}},
    {"store-prune", (const char[]){
#embed "JSON/store-prune.json"
    , 0}},
    {"store-repair", (const char[]){
#embed "JSON/store-repair.json"
    , 0}},
    {"store-restore", (const char[]){
#embed "JSON/store-restore.json"
    , 0}},
    {"trim", (const char[]){
#embed "JSON/trim.json"
    , 0}},
    {"verify", (const char[]){
#embed "JSON/verify.json"
    , 0}},
    {"watch", (const char[]){
#embed "JSON/watch.json"
    , 0}},
    {"why", (const char[]){
#embed "JSON/why.json"
    , 0}},
    {"words", (const char[]){
#embed "JSON/words.json"
    , 0}},
};

const text_named *const text_json_schemas = schemas;
const int text_json_schema_count = sizeof schemas / sizeof *schemas;
