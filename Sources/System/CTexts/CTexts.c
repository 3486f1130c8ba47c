#include "CTexts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const char *const text_receipt_script = (const char[]){
#embed "Proof/receipt.sh.in"
    , 0};
const char *const text_quote_script = (const char[]){
#embed "Proof/quote.py"
    , 0};
const char *const text_sound_manifest = (const char[]){
#embed "Scaffold/sound.yaml.in"
    , 0};
const char *const text_file_manifest = (const char[]){
#embed "Scaffold/file.yaml.in"
    , 0};
const char *const text_sound_pipeline = (const char[]){
#embed "Scaffold/try-sound.yaml.in"
    , 0};
const char *const text_file_pipeline = (const char[]){
#embed "Scaffold/try-file.yaml.in"
    , 0};
const char *const text_test = (const char[]){
#embed "Scaffold/test.sh.in"
    , 0};
const char *const text_readme = (const char[]){
#embed "Scaffold/README.md.in"
    , 0};
const char *const text_python = (const char[]){
#embed "Scaffold/plugin.py.in"
    , 0};
const char *const text_shell = (const char[]){
#embed "Scaffold/plugin.sh.in"
    , 0};
const char *const text_c = (const char[]){
#embed "Scaffold/plugin.c.in"
    , 0};
const char *const text_c_build = (const char[]){
#embed "Scaffold/build-c.sh.in"
    , 0};
const char *const text_swift = (const char[]){
#embed "Scaffold/plugin.swift.in"
    , 0};
const char *const text_swift_build = (const char[]){
#embed "Scaffold/build-swift.sh.in"
    , 0};
const char *const text_pipeline = (const char[]){
#embed "Scaffold/pipeline.yaml.in"
    , 0};
const char *const text_bash_completion = (const char[]){
#embed "Completion/completion.bash.in"
    , 0};
const char *const text_fish_completion = (const char[]){
#embed "Completion/completion.fish.in"
    , 0};
const char *const text_zsh_completion = (const char[]){
#embed "Completion/completion.zsh.in"
    , 0};
const char *const text_search_tables = (const char[]){
#embed "Search/tables.sql"
    , 0};
const char *const text_guide_first_steps = (const char[]){
#embed "Guides/first-steps.txt"
    , 0};
const char *const text_guide_units = (const char[]){
#embed "Guides/units.txt"
    , 0};
const char *const text_guide_exit_codes = (const char[]){
#embed "Guides/exit-codes.txt"
    , 0};
const char *const text_guide_files = (const char[]){
#embed "Guides/files.txt"
    , 0};
const char *const text_guide_json = (const char[]){
#embed "Guides/json.txt"
    , 0};
const char *const text_guide_environment = (const char[]){
#embed "Guides/environment.txt"
    , 0};
